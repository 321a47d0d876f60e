#include "client/selection.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "client/values.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

struct StateWord {
  std::string_view letters;
  std::string_view word;
};
constexpr std::array state_letters{
    StateWord{"PD", "queued"},       StateWord{"H", "held"},       StateWord{"CF", "starting"},
    StateWord{"R", "running"},       StateWord{"S", "frozen"},     StateWord{"S", "parked"},
    StateWord{"CG", "stopping"},     StateWord{"CD", "done"},      StateWord{"F", "failed"},
    StateWord{"F", "signalled"},     StateWord{"CA", "cancelled"}, StateWord{"TO", "timeout"},
    StateWord{"OOM", "oom"},         StateWord{"PR", "preempted"}, StateWord{"DP", "dependency"},
    StateWord{"SF", "start-failed"}, StateWord{"LO", "lost"},      StateWord{"", "finished"},
};

constexpr const char* word_help =
    "job id, 42_3 for one job of an array and 42 for all of it, name of a job of yours, or @ for the last one "
    "submitted";

core::ValueMap own_jobs() { return {{"owner", core::Value(std::uint32_t{::geteuid()})}}; }

// As much of the rows as it takes to know which jobs they are.
Outcome<std::vector<JobRow>> list(ManagerClient& client, core::ValueMap filter) {
  filter.emplace("fields", std::vector<std::string>{"id", "state", "array_id", "array_index", "array_count"});
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

Outcome<JobRow> last_row(ManagerClient& client) {
  auto filter = own_jobs();
  filter.emplace("limit", core::Value(std::uint32_t{1}));
  return list(client, filter).and_then([](const std::vector<JobRow>& rows) -> Outcome<JobRow> {
    if (rows.empty()) return fail(exit_code::no_such_job, "you have not submitted any job yet");
    return rows.front();
  });
}

Outcome<std::vector<JobRow>> known_rows(ManagerClient& client, const std::vector<core::JobId>& ids) {
  return list(client, {{"ids", core::Value(ids)}, {"limit", core::Value(static_cast<std::uint32_t>(ids.size()))}});
}

// Those of the array in the order of their indices: the ids of an array follow each other.
Outcome<std::vector<JobRow>> rows_of_array(ManagerClient& client, const JobRow& row) {
  std::vector<core::JobId> ids(row.array_count);
  std::iota(ids.begin(), ids.end(), row.array_id);
  return known_rows(client, ids).map([](std::vector<JobRow> rows) {
    std::sort(rows.begin(), rows.end(), [](const JobRow& a, const JobRow& b) { return a.id < b.id; });
    return rows;
  });
}

// What is to be done to an array is done to those that are not at their end yet.
std::vector<core::JobId> concerned(const std::vector<JobRow>& rows, Purpose purpose) {
  std::vector<core::JobId> ids;
  std::vector<core::JobId> unfinished;
  for (const auto& row : rows) {
    ids.push_back(row.id);
    if (!is_finished(row)) unfinished.push_back(row.id);
  }
  return purpose == Purpose::look || unfinished.empty() ? ids : unfinished;
}

Outcome<std::vector<core::JobId>> whole_submission(ManagerClient& client, const JobRow& row, Purpose purpose) {
  if (row.array_id == 0) return std::vector{row.id};
  return rows_of_array(client, row).map([&](const std::vector<JobRow>& rows) { return concerned(rows, purpose); });
}

// The first job of an array, whose id is the array's, means itself when it names itself: `scontrol requeue
// $SLURM_JOB_ID` in a trap must not take the others with it.
bool is_own_id(core::JobId id) {
  const char* const own = std::getenv("MLJOB_ID");
  return own != nullptr && core::to_number<std::uint32_t>(own) == id;
}

// The id of an array is that of its first job, and means all of them.
Outcome<std::vector<core::JobId>> jobs_of(ManagerClient& client, core::JobId id, Purpose purpose) {
  if (is_own_id(id)) return std::vector{id};
  const auto rows = known_rows(client, {id});
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty() || rows->front().array_id != id) return std::vector{id};
  return whole_submission(client, rows->front(), purpose);
}

// Empty when there is no such array: then it may be a name.
Outcome<std::vector<core::JobId>> find_element(ManagerClient& client, const ArrayElement& element) {
  const auto known = known_rows(client, {element.array});
  if (!known) return tl::unexpected(known.error());
  if (known->empty() || known->front().array_id != element.array) return std::vector<core::JobId>{};
  const auto rows = rows_of_array(client, known->front());
  if (!rows) return tl::unexpected(rows.error());
  for (const auto& row : *rows) {
    if (row.array_index == element.index) return std::vector{row.id};
  }
  return fail(exit_code::no_such_job, "array " + std::to_string(element.array) + " has no job with index " +
                                          std::to_string(element.index) + "; `jobctl status " +
                                          std::to_string(element.array) + "` shows those that it has");
}

Outcome<std::vector<core::JobId>> select_word(ManagerClient& client, const std::string& word, Purpose purpose) {
  if (const auto id = core::to_number<std::uint32_t>(word); id && *id != 0) return jobs_of(client, *id, purpose);
  if (word == "@") {
    return last_row(client).and_then([&](const JobRow& row) { return whole_submission(client, row, purpose); });
  }
  if (const auto element = array_element_from(word)) {
    auto found = find_element(client, *element);
    if (!found || !found->empty()) return found;
  }
  auto filter = own_jobs();
  filter.emplace("name", core::Value(word));
  return list(client, filter)
      .and_then([&](const std::vector<JobRow>& rows) { return choose_by_name(word, rows, purpose); })
      .and_then([&](const JobRow& row) { return whole_submission(client, row, purpose); });
}

}  // namespace

void add_job_words(CLI::App& app, Selection& selection, bool required) {
  auto* option = app.add_option("job", selection.words, word_help)->type_name("JOB");
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
  static const std::vector<std::string> states{"queued", "held", "starting", "running", "frozen", "parked", "stopping"};
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

Outcome<JobRow> choose_by_name(const std::string& name, const std::vector<JobRow>& rows, Purpose purpose) {
  if (rows.empty()) {
    return fail(exit_code::no_such_job,
                "you have no job named \"" + name + "\"; `jobctl list --all` shows all of yours");
  }
  if (purpose == Purpose::look) return rows.front();
  std::vector<JobRow> submissions;
  for (const auto& row : rows) {
    const auto same = [&](const JobRow& other) { return row.array_id != 0 && row.array_id == other.array_id; };
    if (!is_finished(row) && std::none_of(submissions.begin(), submissions.end(), same)) submissions.push_back(row);
  }
  if (submissions.empty()) return rows.front();
  if (submissions.size() == 1) return submissions.front();
  std::string message =
      "\"" + name + "\" is the name of " + std::to_string(submissions.size()) + " unfinished jobs; say which:";
  constexpr std::size_t shown = 20;
  for (std::size_t at = 0; at < std::min(submissions.size(), shown); ++at) {
    const auto& row = submissions[at];
    message += " " + std::to_string(row.array_id != 0 ? row.array_id : row.id);
  }
  if (submissions.size() > shown) message += " …";
  return usage_failure(std::move(message));
}

std::optional<ArrayElement> array_element_from(std::string_view word) {
  const auto underscore = word.find('_');
  if (underscore == std::string_view::npos) return std::nullopt;
  const auto array = core::to_number<std::uint32_t>(word.substr(0, underscore));
  const auto index = core::to_number<std::uint32_t>(word.substr(underscore + 1));
  if (!array || *array == 0 || !index) return std::nullopt;
  return ArrayElement{.array = *array, .index = *index};
}

Outcome<core::JobId> last_submission(ManagerClient& client) {
  return last_row(client).map([](const JobRow& row) { return row.array_id != 0 ? row.array_id : row.id; });
}

Outcome<std::vector<core::JobId>> with_whole_arrays(ManagerClient& client, const std::vector<core::JobId>& ids) {
  std::vector<core::JobId> all;
  for (const auto id : ids) {
    const auto jobs = jobs_of(client, id, Purpose::look);
    if (!jobs) return jobs;
    all.insert(all.end(), jobs->begin(), jobs->end());
  }
  return all;
}

Outcome<core::JobId> select_job(ManagerClient& client, const std::string& word) {
  const auto ids = select_word(client, word, Purpose::look);
  if (!ids) return tl::unexpected(ids.error());
  if (ids->size() == 1) return ids->front();
  const auto rows = rows_of(client, {ids->front()});
  if (!rows) return tl::unexpected(rows.error());
  return usage_failure(word + " is an array of " + std::to_string(ids->size()) + " jobs; say which one, as in " +
                       label_of(job_row_from(rows->front())));
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
    const auto found = select_word(client, word, purpose);
    if (!found) return found;
    for (const auto id : *found) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
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
