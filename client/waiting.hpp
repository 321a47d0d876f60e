// Waiting for jobs on the bus, across restarts of the daemon.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "client/manager_client.hpp"
#include "client/wait_tracker.hpp"

namespace mljobd::client {

// Make it before the jobs are submitted or listed: what happens from then on is not missed.
class JobWatch {
 public:
  explicit JobWatch(ManagerClient& client) : client_(client) {}
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  [[nodiscard]] Outcome<void> start();

  // Looks the jobs up, unless they were submitted after start() and nothing can have been missed. Errors:
  // no_such_job; timed_out.
  enum class FirstLook { needed, spared };
  [[nodiscard]] Outcome<void> wait(WaitTracker& tracker, FirstLook first_look,
                                   std::optional<std::chrono::microseconds> timeout);

  // One step of a loop that does something else besides: true if the tracker has been updated.
  [[nodiscard]] Outcome<bool> step(WaitTracker& tracker, std::chrono::milliseconds time);
  void look_again() { stale_ = true; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] Outcome<void> notice_restarts();
  [[nodiscard]] Outcome<bool> look(WaitTracker& tracker);
  void mention_absence();

  ManagerClient& client_;
  WaitTracker* tracker_ = nullptr;  // while step runs
  bool stale_ = false;              // the rows must be read again
  bool answered_ = false;           // a daemon that was never there is an error, one that went is waited for
  bool watches_daemon_ = false;
  Clock::time_point started_{};
  Clock::time_point next_look_{};  // not before: asking an absent daemon only starts and fails an activation
  std::optional<Clock::time_point> absent_since_{};
  bool absence_mentioned_ = false;
};

}  // namespace mljobd::client
