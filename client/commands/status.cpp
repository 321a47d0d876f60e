#include <CLI/CLI.hpp>
#include <unistd.h>

#include "client/json.hpp"
#include "client/log_reader.hpp"
#include "client/output.hpp"
#include "client/render_list.hpp"
#include "client/render_status.hpp"
#include "client/selection.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

struct StatusOptions {
  Selection selection{};
  std::uint64_t lines = 10;
  bool json = false;
};

// The keys that only the job's object has, under the names that JSON readers know from the rows.
void merge_properties(core::ValueMap& row, const core::ValueMap& properties) {
  constexpr std::pair<const char*, const char*> names[] = {{"Effective", "effective"},
                                                           {"Usage", "usage"},
                                                           {"Progress", "progress"},
                                                           {"ProgressMessage", "progress_message"}};
  for (const auto& [property, key] : names) {
    const auto found = properties.find(property);
    if (found != properties.end()) row.insert_or_assign(key, found->second);
  }
}

std::string log_tail(ManagerClient& client, const JobRow& row, std::uint64_t lines) {
  // Only the owner and root may read it; for anybody else there is simply none on the page.
  if (lines == 0 || !was_started(row) || (row.owner != ::geteuid() && ::geteuid() != 0)) return "";
  const auto log = client.open_log(row.id, std::nullopt);
  if (!log) return "";
  const auto start = tail_start(log->get(), lines);
  if (!start) return "";
  // A page is for reading: of lines without end, the last 16 KiB will do.
  constexpr off_t most = 16 << 10;
  const off_t end = ::lseek(log->get(), 0, SEEK_END);
  const off_t begin = std::max(*start, end - most);
  std::string text(static_cast<std::size_t>(std::max<off_t>(end - begin, 0)), '\0');
  const auto got = ::pread(log->get(), text.data(), text.size(), begin);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

// A page for each of a thousand jobs is nothing to read.
int array_status(const Invocation& invocation, const Rows& rows) {
  std::vector<JobRow> jobs;
  for (const auto& row : rows) jobs.push_back(job_row_from(row));
  const auto table = render_array(jobs, table_style(invocation, true));
  return table ? print(*table) : report(table.error());
}

int job_status(ManagerClient& client, const Invocation& invocation, const StatusOptions& options) {
  const auto ids = select_jobs(client, options.selection, Purpose::look);
  if (!ids) return report(ids.error());
  auto rows = rows_of(client, *ids);
  if (!rows) return report(rows.error());
  // One word that means several jobs is an array.
  if (options.selection.words.size() == 1 && rows->size() > 1 && !options.json) return array_status(invocation, *rows);
  std::string pages;
  for (auto& row : *rows) {
    const auto job = job_row_from(row);
    // A job that is in the history only has no object any more; its row says all that is left of it.
    const auto properties = client.job_properties(job.id).value_or(core::ValueMap{});
    if (options.json) {
      merge_properties(row, properties);
      continue;
    }
    if (!pages.empty()) pages += "\n";
    pages += render_status({.row = job, .properties = properties, .log_tail = log_tail(client, job, options.lines)},
                           use_colour(invocation.colour));
  }
  return print(options.json ? json_list("jobs", *rows) : pages);
}

int machine_status(ManagerClient& client, const Invocation& invocation, bool json) {
  const auto properties = client.manager_properties();
  if (!properties) return report(properties.error());
  const auto classes = client.list_classes();
  if (!classes) return report(classes.error());
  const auto resources = client.resources().value_or(core::ValueMap{});
  if (!json) return print(render_machine(*properties, resources, *classes, use_colour(invocation.colour)));
  core::ValueMap machine;
  if (!resources.empty()) machine.emplace("resources", resources);
  for (const auto& [property, key] : {std::pair{"Version", "daemon_version"},
                                      {"Mode", "mode"},
                                      {"State", "state"},
                                      {"Problems", "problems"},
                                      {"Queued", "queued"},
                                      {"Running", "running"},
                                      {"Finished", "finished"},
                                      {"PressureLevel", "pressure_level"},
                                      {"Memory", "memory"}}) {
    const auto found = properties->find(property);
    if (found != properties->end()) machine.emplace(key, found->second);
  }
  return print(json_object("machine", machine));
}

}  // namespace

int run_status(Invocation& invocation) {
  StatusOptions options;
  VerbParser parser(invocation,
                    "One job in full: state, why it waits or died, limits, use, growth, last output. Without a job: "
                    "the machine.",
                    "jobctl status @");
  auto& app = parser.app();
  add_job_words(app, options.selection, false);
  add_job_filters(app, options.selection);
  app.add_option("-n,--lines", options.lines, "lines of output to show")->type_name("N");
  app.add_flag("--json", options.json, "as JSON, without the output");
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto& selection = options.selection;
  const bool machine =
      selection.words.empty() && selection.states.empty() && selection.class_name.empty() && !selection.all;
  return machine ? machine_status(**client, invocation, options.json) : job_status(**client, invocation, options);
}

}  // namespace mljobd::client
