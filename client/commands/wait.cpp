#include <CLI/CLI.hpp>

#include "client/output.hpp"
#include "client/selection.hpp"
#include "client/units.hpp"
#include "client/values.hpp"
#include "client/verbs.hpp"
#include "client/waiting.hpp"

namespace mljobd::client {
namespace {

struct WaitOptions {
  Selection selection{};
  bool any = false;
  std::string target = "done";
  std::string timeout{};
};

std::string detach_message(const std::vector<core::JobId>& ids) {
  if (ids.size() > 1) return "the jobs go on; `jobctl cancel ID…` stops them";
  const std::string number = std::to_string(ids.front());
  return "job " + number + " goes on; `jobctl cancel " + number + "` stops it";
}

Outcome<std::optional<std::chrono::microseconds>> timeout_from(const WaitOptions& options) {
  if (options.timeout.empty()) return std::nullopt;
  return parse_value(OptionKind::duration, "--timeout", options.timeout, {}).map([](const core::Value& value) {
    return std::optional(std::chrono::microseconds(integer_from<std::int64_t>(value).value_or(INT64_MAX)));
  });
}

int wait(const Invocation& invocation, const WaitOptions& options) {
  const auto timeout = timeout_from(options);
  if (!timeout) return report(timeout.error());
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto ids = select_jobs(**client, options.selection, Purpose::look);
  if (!ids) return report(ids.error());
  detach_on_interrupt(detach_message(*ids));
  JobWatch watch(**client);
  if (auto started = watch.start(); !started) return report(started.error());
  WaitTracker tracker(*ids, options.target == "running" ? WaitFor::running : WaitFor::done,
                      options.any ? WaitMode::any : WaitMode::all);
  if (auto waited = watch.wait(tracker, JobWatch::FirstLook::needed, *timeout); !waited) {
    return report(waited.error());
  }
  return tracker.exit_code();
}

}  // namespace

int run_wait(Invocation& invocation) {
  WaitOptions options;
  VerbParser parser(invocation, "Wait for jobs and exit as they did; of several, with the largest exit code.",
                    "jobctl wait 41 42 && jobctl submit -- python3 evaluate.py");
  auto& app = parser.app();
  add_job_words(app, options.selection, false);
  add_job_filters(app, options.selection);
  app.add_flag("--any", options.any, "until one of them has");
  app.add_option("--for", options.target, "what to wait for: running or done")
      ->check(CLI::IsMember({"running", "done"}))
      ->type_name("WHAT");
  app.add_option("--timeout", options.timeout, "give up after this time, with exit code 124")->type_name("TIME");
  if (const auto code = parser.parse()) return *code;
  return wait(invocation, options);
}

}  // namespace mljobd::client
