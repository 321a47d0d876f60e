// Which environment goes along with a job: --export, in Slurm's words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/failure.hpp"

namespace mljobd::client {

struct SelectedEnvironment {
  std::vector<std::string> variables{};  // "KEY=value"
  std::vector<std::string> left_out{};   // names whose values D-Bus cannot carry (not UTF-8)
};

// exports: what was given with --export, each a comma-separated list of ALL, NONE, NAME and NAME=value; nothing at all
// is ALL. ALL is the whole environment less what belongs to the calling shell only (_, SHLVL, OLDPWD) and less the
// MLJOB_ and SLURM_ variables, which are of the job that jobctl was called from. A later entry wins.
// Errors: usage, for a name that is not one, or a NAME that is not set.
[[nodiscard]] Outcome<SelectedEnvironment> select_environment(const std::vector<std::string>& exports,
                                                              const std::vector<std::string>& environment);

// "LS_COLORS (1.5K)": the largest variable, to say what to leave out when the daemon refuses an environment.
[[nodiscard]] std::string largest_variable(const std::vector<std::string>& variables);

// Of this process.
[[nodiscard]] std::vector<std::string> own_environment();

}  // namespace mljobd::client
