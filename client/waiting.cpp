#include "client/waiting.hpp"

#include <algorithm>

#include "client/output.hpp"
#include "client/selection.hpp"

namespace mljobd::client {
namespace {

// A job that ends sooner is told by its signal alone: the match for a restart of the daemon would cost it one more
// round trip. Whoever waits longer gets it, and one more look at the rows closes the gap.
constexpr std::chrono::milliseconds restart_watch_delay(1000);
constexpr std::chrono::seconds absence_worth_a_word(5);
constexpr std::chrono::seconds absence_retry(2);
constexpr std::chrono::milliseconds longest_step(60'000);

}  // namespace

Outcome<void> JobWatch::start() {
  started_ = Clock::now();
  return client_.subscribe([this](const StateChange& change) {
    if (tracker_ == nullptr) return;
    if (change.certain && tracker_->succeeded(change.id, change.new_state, change.reason)) return;
    if (tracker_->concerns(change.id, change.new_state)) stale_ = true;
  });
}

Outcome<void> JobWatch::notice_restarts() {
  watches_daemon_ = true;
  stale_ = true;
  return client_.watch_daemon([this](bool present) {
    if (present) {
      if (absence_mentioned_) warn("mljobd is back; still waiting");
      absent_since_.reset();
      absence_mentioned_ = false;
      next_look_ = Clock::now();
      stale_ = true;
    } else if (!absent_since_) {
      absent_since_ = Clock::now();
    }
  });
}

Outcome<bool> JobWatch::look(WaitTracker& tracker) {
  stale_ = false;
  auto rows = rows_of(client_, tracker.outstanding());
  if (!rows) {
    if (!answered_ || !rows.error().daemon_gone) return tl::unexpected(rows.error());
    // It went away in the middle of the question; its jobs belong to PID 1 and go on.
    if (!absent_since_) absent_since_ = Clock::now();
    next_look_ = Clock::now() + absence_retry;
    stale_ = true;
    return false;
  }
  answered_ = true;
  absent_since_.reset();
  for (const auto& row : *rows) tracker.update(job_row_from(row));
  return true;
}

void JobWatch::mention_absence() {
  if (!absent_since_ || absence_mentioned_ || Clock::now() - *absent_since_ < absence_worth_a_word) return;
  warn("mljobd is stopped or restarting; running jobs go on, and so does this wait (Ctrl-C ends it)");
  absence_mentioned_ = true;
}

Outcome<bool> JobWatch::step(WaitTracker& tracker, std::chrono::milliseconds time) {
  tracker_ = &tracker;
  if (!watches_daemon_) {
    const auto until = started_ + restart_watch_delay;
    if (Clock::now() >= until) {
      if (auto watched = notice_restarts(); !watched) return tl::unexpected(watched.error());
    } else {
      time = std::min(time, restart_watch_delay);
    }
  }
  if (!stale_ || Clock::now() < next_look_) {
    if (stale_) time = std::min(time, std::chrono::ceil<std::chrono::milliseconds>(next_look_ - Clock::now()));
    if (auto ran = client_.run_once(time); !ran) return tl::unexpected(ran.error());
  }
  mention_absence();
  if (!stale_ || tracker.complete() || Clock::now() < next_look_) return false;
  return look(tracker);
}

Outcome<void> JobWatch::wait(WaitTracker& tracker, FirstLook first_look,
                             std::optional<std::chrono::microseconds> timeout) {
  const auto begin = Clock::now();
  // Without a first look the answer to Submit is the one that counts.
  (first_look == FirstLook::needed ? stale_ : answered_) = true;
  while (!tracker.complete()) {
    auto time = longest_step;
    if (timeout) {
      const auto left = *timeout - std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
      if (left.count() <= 0)
        return fail(exit_code::timed_out, "the time is up and the wait is not over; the job goes on");
      time = std::min(time, std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    if (auto stepped = step(tracker, time); !stepped) return tl::unexpected(stepped.error());
  }
  return {};
}

}  // namespace mljobd::client
