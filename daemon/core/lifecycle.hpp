// The life of a job as a pure state machine: what happened goes in, the changed job and what to do about it come
// out. Nothing is done here; job_manager persists the change, job_runner carries the actions out and reports back.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/death_cause.hpp"
#include "core/job.hpp"
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
struct TimeLimitReached {};
struct MainProcessExited {};  // a foreground job's, as its client reports

using JobEvent =
    std::variant<Admitted, Waiting, UnitsRunning, Ended, StartRefused, StartPostponed, CancelRequested, HoldRequested,
                 ReleaseRequested, RequeueRequested, FreezeDone, ThawDone, TimeLimitReached, MainProcessExited>;

enum class JobAction {
  start_units,
  thaw_units,     // always before stop_units of a frozen job: a frozen process does not see SIGTERM
  stop_units,     // SIGTERM, stop_timeout, SIGKILL
  release_units,  // the result is safe: give the unit names and the cgroup back to PID 1
};

struct Transition {
  std::vector<JobAction> actions{};
  bool changed = false;  // the job is to be persisted and announced
};

// Errors: invalid_state, when the event cannot happen to a job in that state; the job is then unchanged.
[[nodiscard]] Expected<Transition> apply(Job& job, const JobEvent& event, const Now& now);

// When the time limit fires if nothing changes; empty without a limit, before the start and while frozen.
[[nodiscard]] std::optional<BootTime> time_limit_deadline(const Job& job);

}  // namespace mljobd::core
