#include <chrono>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "client/json.hpp"
#include "client/output.hpp"
#include "client/render_list.hpp"
#include "client/selection.hpp"
#include "client/units.hpp"
#include "client/values.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

struct ListOptions {
  Selection selection{};
  std::string name{};
  std::string since{};
  std::uint32_t limit = 1000;
  std::string fields{default_fields};
  bool json = false;
  bool no_legend = false;
};

void add_options(CLI::App& app, ListOptions& options) {
  app.add_flag("-a,--all", options.selection.all, "finished jobs as well");
  app.add_flag("--all-users", options.selection.all_users, "everybody's jobs, not only yours");
  app.add_option("--state", options.selection.states, "jobs in this state: running, R, failed, F …")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("STATE");
  app.add_option("--class", options.selection.class_name, "jobs of this class")->type_name("CLASS");
  app.add_option("-J,--name", options.name, "jobs of this name")->type_name("NAME");
  app.add_option("--since", options.since, "jobs submitted within this time, finished ones as well: 8h, 2d")
      ->type_name("TIME");
  app.add_option("-n,--limit", options.limit, "at most so many, the newest")
      ->check(CLI::Range(1, 10000))
      ->type_name("N");
  app.add_option("-o,--format", options.fields, "columns, separated by commas; a wrong one lists them all")
      ->type_name("FIELDS");
  app.add_flag("--json", options.json, "{\"version\":1,\"jobs\":[…]}, with the keys of org.mljobd1(5)");
  app.add_flag("--no-legend", options.no_legend, "no titles above the columns");
}

Outcome<core::ValueMap> filter_from(const ListOptions& options) {
  const auto& selection = options.selection;
  core::ValueMap filter{{"limit", core::Value(options.limit)}};
  if (!selection.all_users) filter.emplace("owner", core::Value(std::uint32_t{::geteuid()}));
  if (!selection.class_name.empty()) filter.emplace("class", core::Value(selection.class_name));
  if (!options.name.empty()) filter.emplace("name", core::Value(options.name));
  auto states = state_words(selection.states);
  if (!states) return tl::unexpected(states.error());
  if (!options.since.empty()) {
    const auto age = parse_value(OptionKind::duration, "--since", options.since, {});
    if (!age) return tl::unexpected(age.error());
    const auto now =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
    const auto back = integer_from<std::int64_t>(*age).value_or(INT64_MAX);
    const auto since = back >= now.count() ? std::int64_t{0} : now.count() - back;
    filter.emplace("since", core::Value(static_cast<std::uint64_t>(since)));
  }
  const bool finished_too = selection.all || !options.since.empty();
  if (states->empty() && !finished_too) states = unfinished_states();
  if (!states->empty()) filter.emplace("state", core::Value(*states));
  return filter;
}

int list(const Invocation& invocation, const ListOptions& options) {
  auto filter = filter_from(options);
  if (!filter) return report(filter.error());
  if (!options.json) {
    const auto keys = row_keys(options.fields);
    if (!keys) return report(keys.error());
    filter->emplace("fields", core::Value(*keys));
  }
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto rows = (*client)->list_jobs(*filter);
  if (!rows) return report(rows.error());
  if (options.json) return print(json_list("jobs", *rows));
  std::vector<JobRow> jobs;
  for (const auto& row : *rows) jobs.push_back(job_row_from(row));
  const auto table = render_jobs(jobs, options.fields, table_style(invocation, !options.no_legend));
  return table ? print(*table) : report(table.error());
}

}  // namespace

int run_list(Invocation& invocation) {
  ListOptions options;
  VerbParser parser(invocation, "Your jobs that have not finished; with --all, --since or --state finished ones too.",
                    "jobctl list --since 12h -o ID,NAME,ST,EXIT,PEAK,REASON");
  add_options(parser.app(), options);
  if (const auto code = parser.parse()) return *code;
  return list(invocation, options);
}

}  // namespace mljobd::client
