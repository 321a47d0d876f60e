// Which jobs a command is about: ids, names, "@", or all that a filter finds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/job_row.hpp"
#include "client/manager_client.hpp"

namespace CLI {
class App;
}

namespace mljobd::client {

struct Selection {
  std::vector<std::string> words{};   // id, "42_3", name, or "@": the last that I submitted
  std::vector<std::string> states{};  // --state, as "running" or "R"
  std::string class_name{};           // --class
  bool all = false;                   // --all: all of mine that have not finished
  bool all_users = false;             // --all-users: not only mine
};

// What a name stands for that several jobs carry. To look at: the latest. To act on: the one that has not finished,
// and a refusal that lists them if there are several; if all have finished, the latest.
enum class Purpose { look, act };

void add_job_words(CLI::App& app, Selection& selection, bool required);
void add_job_filters(CLI::App& app, Selection& selection);

// In the order given, each id once; never empty. The id of an array, its name and "@" mean all its jobs: to look at,
// every one; to act on, those that have not finished, if there are any. Ids that the daemon does not know stay: it says
// so. Errors: no_such_job, usage, and those of the daemon.
[[nodiscard]] Outcome<std::vector<core::JobId>> select_jobs(ManagerClient& client, const Selection& selection,
                                                            Purpose purpose);
// One to look at. Errors: the same; usage also for an array of several.
[[nodiscard]] Outcome<core::JobId> select_job(ManagerClient& client, const std::string& word);

// What "@" stands for in a list of dependencies, where the id of an array means all of it.
[[nodiscard]] Outcome<core::JobId> last_submission(ManagerClient& client);
[[nodiscard]] Outcome<std::vector<core::JobId>> with_whole_arrays(ManagerClient& client,
                                                                  const std::vector<core::JobId>& ids);

// "42_3". Pure.
struct ArrayElement {
  core::JobId array = 0;
  std::uint32_t index = 0;

  bool operator==(const ArrayElement&) const = default;
};
[[nodiscard]] std::optional<ArrayElement> array_element_from(std::string_view word);

// From the jobs of one name, newest first; any job of an array stands for it. Pure.
[[nodiscard]] Outcome<JobRow> choose_by_name(const std::string& name, const std::vector<JobRow>& rows, Purpose purpose);

// The filter of ListJobs for states ("R" becomes "running"). Errors: usage, naming the words there are.
[[nodiscard]] Outcome<std::vector<std::string>> state_words(const std::vector<std::string>& given);

[[nodiscard]] const std::vector<std::string>& unfinished_states();

// Rows of the given ids, in their order. Errors: no_such_job, naming the first that is missing.
[[nodiscard]] Outcome<std::vector<core::ValueMap>> rows_of(ManagerClient& client, const std::vector<core::JobId>& ids);

}  // namespace mljobd::client
