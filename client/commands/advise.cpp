#include <CLI/CLI.hpp>

#include "client/json.hpp"
#include "client/output.hpp"
#include "client/render_advice.hpp"
#include "client/selection.hpp"
#include "client/units.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

Outcome<core::ValueMap> ask(ManagerClient& client, std::uint32_t jobs, const std::string& job) {
  if (job.empty()) {
    // What is trained on is most often near to where it is started.
    core::ValueMap request{{"jobs", jobs}};
    if (const auto here = surroundings().workdir; !here.empty() && is_utf8(here)) request.emplace("path", here);
    return client.advise(request);
  }
  const auto id = select_job(client, job);
  if (!id) return tl::unexpected(id.error());
  return client.advise({{"job", *id}});
}

}  // namespace

int run_advise(Invocation& invocation) {
  std::uint32_t jobs = 1;
  std::string job;
  bool json = false;
  VerbParser parser(
      invocation,
      "How many data-loading workers and threads to use: for trainings on this machine, by its physical "
      "cores; for a job, by what it did. With what was seen, what a change would bring, and what to type.",
      "jobctl advise --jobs 4");
  auto& app = parser.app();
  auto* const many = app.add_option("--jobs", jobs, "trainings side by side; default: 1")->type_name("N");
  app.add_option("--job", job, "a job, running or finished: id, name or @")->type_name("JOB")->excludes(many);
  app.add_flag("--json", json, "as JSON");
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  auto advice = ask(**client, jobs, job);
  if (!advice) return report(advice.error());
  if (!json) return print(render_advice(*advice, use_colour(invocation.colour)));
  advice->emplace("version", std::uint32_t{1});
  return print(json_line(*advice));
}

}  // namespace mljobd::client
