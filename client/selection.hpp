// Which jobs a command is about: ids, names, "@", or all that a filter finds.
#pragma once

#include <string>
#include <vector>

#include "client/job_row.hpp"
#include "client/manager_client.hpp"

namespace CLI {
class App;
}

namespace mljobd::client {

struct Selection {
  std::vector<std::string> words{};   // id, name, or "@": the last one that I submitted
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

// In the order given, each id once; never empty. Ids are not looked up: the daemon says what it does not know.
// Errors: no_such_job, usage, and those of the daemon.
[[nodiscard]] Outcome<std::vector<core::JobId>> select_jobs(ManagerClient& client, const Selection& selection,
                                                            Purpose purpose);
[[nodiscard]] Outcome<core::JobId> select_job(ManagerClient& client, const std::string& word, Purpose purpose);

// From the jobs of one name, newest first. Pure.
[[nodiscard]] Outcome<core::JobId> choose_by_name(const std::string& name, const std::vector<JobRow>& rows,
                                                  Purpose purpose);

// The filter of ListJobs for states ("R" becomes "running"). Errors: usage, naming the words there are.
[[nodiscard]] Outcome<std::vector<std::string>> state_words(const std::vector<std::string>& given);

[[nodiscard]] const std::vector<std::string>& unfinished_states();

// Rows of the given ids, in their order. Errors: no_such_job, naming the first that is missing.
[[nodiscard]] Outcome<std::vector<core::ValueMap>> rows_of(ManagerClient& client, const std::vector<core::JobId>& ids);

}  // namespace mljobd::client
