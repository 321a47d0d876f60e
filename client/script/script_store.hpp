// Copies of the scripts that were submitted. As with sbatch it is the copy that runs, so that editing a script changes
// nothing about the jobs that are queued already.
//
// The daemon stores no files for its users, and `INTERPRETER -c TEXT` would show the whole script to everybody in ps
// and end at 128 KiB. So the client keeps the copies, in $XDG_STATE_HOME/mljobd/scripts (~/.local/state/…), readable
// by their owner only:
//
//   scripts/system/<hash of the content>/train.sh     0500; "user" in place of "system" for the daemon of --user
//
// The file keeps its name, because scripts and ps show it ($0); the folder in which the original lies is the job's
// SLURM_SUBMIT_DIR or its working directory, as with Slurm. Each use renews the time of the folder. What was not used
// for 90 days, the time that the daemon's history goes back, and not since the oldest job that has not finished was
// submitted, is referenced by nobody and is removed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "client/failure.hpp"
#include "client/manager_client.hpp"
#include "client/script/script_file.hpp"
#include "core/types.hpp"

namespace mljobd::client {

class ScriptStore {
 public:
  // Of the calling user; nothing is made yet. Errors: neither XDG_STATE_HOME nor HOME is an absolute path.
  [[nodiscard]] static Outcome<ScriptStore> of_user(Bus bus);
  explicit ScriptStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Where the copy is, or will be.
  [[nodiscard]] std::filesystem::path path_of(const Script& script) const;

  // Writes the copy, unless it is there, and renews its time. Errors: it cannot be written.
  [[nodiscard]] Outcome<std::filesystem::path> keep(const Script& script) const;

  // Folders of copies that were last used before then; at most 1000.
  [[nodiscard]] std::vector<std::filesystem::path> unused_since(core::RealTime moment) const;
  void remove(const std::vector<std::filesystem::path>& folders) const;

 private:
  [[nodiscard]] std::filesystem::path folder_of(const Script& script) const;

  std::filesystem::path directory_;
};

inline constexpr std::chrono::hours script_age{24 * 90};

// Removes what nobody references any more; asks the daemon only if something is old enough. Failing is no matter: it
// will be tried again with the next script.
void tidy(const ScriptStore& store, ManagerClient& client, core::RealTime now);

}  // namespace mljobd::client
