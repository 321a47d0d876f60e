// The life of a job as a pure state machine: what happened goes in, the changed job and what to do about it come
// out. Nothing is done here; job_manager persists the change, job_runner carries the actions out and reports back.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/death_cause.hpp"
#include "core/job.hpp"
#include "core/retry.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// What can happen to a job.
struct Admitted {  // the scheduler chose it
  std::string boot_id{};
};
struct Waiting {  // the scheduler passed it over
  PendingReason reason = PendingReason::none;
  std::string detail{};
};
struct UnitsRunning {};  // its program (or the adopted processes) is verified to run in its units
struct Ended {           // its processes are gone and all evidence has been read
  Verdict verdict{};
  Usage usage{};
  std::optional<RealTime> started{};  // as PID 1 says
  std::optional<Retry> retry{};       // the job goes back to the queue for another attempt
};
struct StartRefused {  // PID 1 or a check before it refused to start it
  Verdict verdict{};
};
struct StartPostponed {};  // it could not be written down, so it was not started
struct CancelRequested {
  UserId by = 0;
  std::string by_name{};
};
struct HoldRequested {};
struct ReleaseRequested {};
struct RequeueRequested {
  UserId by = 0;
};
struct FreezeDone {};
struct ThawDone {};
struct ParkBegun {  // frozen, and its memory is being moved out
  bool by_hand = false;
  std::string reason{};
};
struct ParkDone {};          // as much as there is to move is out
struct UnparkDone {};        // it runs again
struct PressureDemandsEnd {  // the pressure policy chose it
  Bytes memory = 0;          // what it needs, for the next attempt
  // How long it gets to save its work, told by its checkpoint signal. Of one that is stopping already there is no more.
  std::optional<Microseconds> grace{};
};
struct GraceOver {};      // it had its time to save its work
struct CheckpointDue {};  // its own growth is about to end it
struct TimeLimitReached {};
struct WarningDue {};      // the time limit is near enough for warn_signal
struct DependencyFailed {  // what the job waits for will never come true
  std::string detail{};    // "job 41 ended as failed, not well"
};
struct MainProcessExited {};  // a foreground job's, as its client reports

using JobEvent = std::variant<Admitted, Waiting, UnitsRunning, Ended, StartRefused, StartPostponed, CancelRequested,
                              HoldRequested, ReleaseRequested, RequeueRequested, FreezeDone, ThawDone, ParkBegun,
                              ParkDone, UnparkDone, PressureDemandsEnd, GraceOver, CheckpointDue, TimeLimitReached,
                              WarningDue, DependencyFailed, MainProcessExited>;

enum class JobAction {
  start_units,
  thaw_units,     // always before stop_units of a frozen or parked job: a frozen process does not see SIGTERM
  warn,           // warn_signal
  checkpoint,     // checkpoint_signal
  stop_units,     // SIGTERM, stop_timeout, SIGKILL
  kill_units,     // SIGKILL at once, frozen or not
  park_units,     // freeze, move the memory out
  release_units,  // the result is safe: give the unit names and the cgroup back to PID 1
};

struct Transition {
  std::vector<JobAction> actions{};
  bool changed = false;  // the job is to be persisted and announced
};

// Errors: invalid_state, when the event cannot happen to a job in that state; the job is then unchanged.
[[nodiscard]] Expected<Transition> apply(Job& job, const JobEvent& event, const Now& now);

// Since when it is frozen, parked or not; empty for one that is not.
[[nodiscard]] std::optional<BootTime> standing_since(const JobState& state);
// When the time limit fires if nothing changes; empty without a limit, before the start, while frozen and while parked.
[[nodiscard]] std::optional<BootTime> time_limit_deadline(const Job& job);
// When warn_signal is due, likewise; empty once it was sent in this attempt.
[[nodiscard]] std::optional<BootTime> warning_deadline(const Job& job);
// When the grace is over in which it saves its work; empty where there is none.
[[nodiscard]] std::optional<BootTime> grace_deadline(const Job& job);
// Before this moment a waiting job may not start: its begin, and the pause before a retry. Empty when there is none.
[[nodiscard]] std::optional<RealTime> earliest_start(const Job& job);

}  // namespace mljobd::core
