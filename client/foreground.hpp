// The child of `jobctl run`: made early, held before its program until the daemon has put it into its scope.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "client/failure.hpp"
#include "client/unique_fd.hpp"

namespace mljobd::client {

struct ForegroundCommand {
  std::vector<std::string> words{};  // not empty; found in PATH as a shell does
  std::string workdir{};             // empty: where we are
  int oom_score_adjust = 0;          // raised to this, never lowered: only root may lower it
};

// Signals of a terminal reach child and jobctl alike, because they share a process group; while the child lives jobctl
// ignores them and waits. Signals that someone sent to jobctl alone are passed on.
class ForegroundChild {
 public:
  // Forks. Errors: failed.
  [[nodiscard]] static Outcome<ForegroundChild> start(const ForegroundCommand& command);
  ForegroundChild(ForegroundChild&&) = default;
  ForegroundChild& operator=(ForegroundChild&&) = delete;
  // A child that was never let go ends by itself: its pipe closes.
  ~ForegroundChild() = default;

  [[nodiscard]] int pidfd() const { return pidfd_.get(); }

  // "KEY=value" on top of our own environment, and the program.
  [[nodiscard]] bool let_go(const std::vector<std::string>& environment);

  struct Exit {
    int code = -1;        // -1: killed
    unsigned signal = 0;  // 0: exited
  };
  // Until it has ended; forwards signals meanwhile.
  [[nodiscard]] Exit wait();
  // Of a child that is not to run: ends it.
  void abandon();

 private:
  ForegroundChild(pid_t pid, UniqueFd pidfd, UniqueFd gate, UniqueFd signals);

  pid_t pid_;
  UniqueFd pidfd_;
  UniqueFd gate_;     // closing it unwritten ends the child
  UniqueFd signals_;  // signalfd
};

}  // namespace mljobd::client
