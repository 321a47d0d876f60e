#include "client/selection.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "client/values.hpp"

namespace mljobd::client {
namespace {

struct StateWord {
  std::string_view letters;
  std::string_view word;
};
constexpr std::array state_letters{
    StateWord{"PD", "queued"},    StateWord{"H", "held"},        StateWord{"CF", "starting"},
    StateWord{"R", "running"},    StateWord{"S", "frozen"},      StateWord{"CG", "stopping"},
    StateWord{"CD", "done"},      StateWord{"F", "failed"},      StateWord{"F", "signalled"},
    StateWord{"CA", "cancelled"}, StateWord{"TO", "timeout"},    StateWord{"OOM", "oom"},
    StateWord{"PR", "preempted"}, StateWord{"DP", "dependency"}, StateWord{"SF", "start-failed"},
    StateWord{"LO", "lost"},      StateWord{"", "finished"},
};

std::optional<core::JobId> as_id(std::string_view word) {
  core::JobId id = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (error != std::errc{} || end != word.data() + word.size() || id == 0) return std::nullopt;
  return id;
}

core::ValueMap own_jobs() { return {{"owner", core::Value(std::uint32_t{::geteuid()})}}; }

Outcome<std::vector<JobRow>> list(ManagerClient& client, const core::ValueMap& filter) {
  return client.list_jobs(filter).map([](const Rows& rows) {
    std::vector<JobRow> jobs;
    for (const auto& row : rows) jobs.push_back(job_row_from(row));
    return jobs;
  });
}

Outcome<std::vector<core::JobId>> select_by_filter(ManagerClient& client, const Selection& selection) {
  auto filter = selection.all_users ? core::ValueMap{} : own_jobs();
  const auto states = state_words(selection.states);
  if (!states) return tl::unexpected(states.error());
  filter.emplace("state", core::Value(states->empty() ? unfinished_states() : *states));
  if (!selection.class_name.empty()) filter.emplace("class", core::Value(selection.class_name));
  filter.emplace("limit", core::Value(std::uint32_t{10000}));
  const auto rows = list(client, filter);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return fail(exit_code::no_such_job, "no job matches");
  std::vector<core::JobId> ids;
  for (const auto& row : *rows) ids.push_back(row.id);
  return ids;
}

}  // namespace

void add_job_words(CLI::App& app, Selection& selection, bool required) {
  auto* option =
      app.add_option("job", selection.words, "job id, name of a job of yours, or @ for the last one submitted")
          ->type_name("JOB");
  if (required) option->required();
}

void add_job_filters(CLI::App& app, Selection& selection) {
  app.add_option("--state", selection.states,
                 "jobs in this state: running, R, queued, PD …; repeat or separate by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("STATE");
  app.add_option("--class", selection.class_name, "jobs of this class")->type_name("CLASS");
  app.add_flag("--all", selection.all, "all of your jobs that have not finished");
  app.add_flag("--all-users", selection.all_users, "with a filter: everybody's jobs, not only yours");
}

const std::vector<std::string>& unfinished_states() {
  static const std::vector<std::string> states{"queued", "held", "starting", "running", "frozen", "stopping"};
  return states;
}

Outcome<std::vector<std::string>> state_words(const std::vector<std::string>& given) {
  std::vector<std::string> words;
  for (const auto& entry : given) {
    const auto before = words.size();
    for (const auto& [letters, word] : state_letters) {
      if (entry == word || entry == letters) words.emplace_back(word);
    }
    if (words.size() > before) continue;
    std::string message = "--state: \"" + entry + "\" is none of";
    for (const auto& [letters, word] : state_letters) message.append(" ").append(word);
    return usage_failure(std::move(message));
  }
  return words;
}

Outcome<core::JobId> choose_by_name(const std::string& name, const std::vector<JobRow>& rows, Purpose purpose) {
  if (rows.empty()) {
    return fail(exit_code::no_such_job,
                "you have no job named \"" + name + "\"; `jobctl list --all` shows all of yours");
  }
  if (purpose == Purpose::look) return rows.front().id;
  std::vector<core::JobId> unfinished;
  for (const auto& row : rows) {
    if (!is_finished(row)) unfinished.push_back(row.id);
  }
  if (unfinished.empty()) return rows.front().id;
  if (unfinished.size() == 1) return unfinished.front();
  std::string message =
      "\"" + name + "\" is the name of " + std::to_string(unfinished.size()) + " unfinished jobs; say which:";
  constexpr std::size_t shown = 20;
  for (std::size_t at = 0; at < std::min(unfinished.size(), shown); ++at)
    message += " " + std::to_string(unfinished[at]);
  if (unfinished.size() > shown) message += " …";
  return usage_failure(std::move(message));
}

Outcome<core::JobId> select_job(ManagerClient& client, const std::string& word, Purpose purpose) {
  if (const auto id = as_id(word)) return *id;
  auto filter = own_jobs();
  if (word == "@") {
    filter.emplace("limit", core::Value(std::uint32_t{1}));
    const auto rows = list(client, filter);
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty()) return fail(exit_code::no_such_job, "you have not submitted any job yet");
    return rows->front().id;
  }
  filter.emplace("name", core::Value(word));
  const auto rows = list(client, filter);
  if (!rows) return tl::unexpected(rows.error());
  return choose_by_name(word, *rows, purpose);
}

Outcome<std::vector<core::JobId>> select_jobs(ManagerClient& client, const Selection& selection, Purpose purpose) {
  const bool filtered = selection.all || !selection.states.empty() || !selection.class_name.empty();
  if (filtered && !selection.words.empty()) {
    return usage_failure("name jobs, or say --state, --class or --all, not both");
  }
  if (filtered) return select_by_filter(client, selection);
  if (selection.words.empty()) return usage_failure("which job? give an id, a name or @, or --state, --class or --all");
  std::vector<core::JobId> ids;
  for (const auto& word : selection.words) {
    const auto id = select_job(client, word, purpose);
    if (!id) return tl::unexpected(id.error());
    if (std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
  }
  return ids;
}

Outcome<std::vector<core::ValueMap>> rows_of(ManagerClient& client, const std::vector<core::JobId>& ids) {
  auto rows =
      client.list_jobs({{"ids", core::Value(ids)}, {"limit", core::Value(static_cast<std::uint32_t>(ids.size()))}});
  if (!rows) return tl::unexpected(rows.error());
  std::map<core::JobId, core::ValueMap> by_id;
  for (auto& row : *rows) {
    const auto id = value_or<std::uint32_t>(row, "id", 0);
    by_id.emplace(id, std::move(row));
  }
  std::vector<core::ValueMap> ordered;
  for (const auto id : ids) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) return fail(exit_code::no_such_job, "there is no job " + std::to_string(id));
    ordered.push_back(found->second);
  }
  return ordered;
}

}  // namespace mljobd::client
