#include "core/lifecycle.hpp"

#include <algorithm>
#include <utility>

namespace mljobd::core {
namespace {

template <class State>
bool in(const Job& job) {
  return std::holds_alternative<State>(job.state);
}

bool stands_still(const Job& job) { return in<Frozen>(job) || in<Parked>(job); }
bool running_or_frozen(const Job& job) { return in<Running>(job) || stands_still(job); }

tl::unexpected<Error> impossible(const Job& job, std::string_view wish) {
  return failure(ErrorCode::invalid_state, "job " + std::to_string(job.id) + " is " + std::string(to_word(job.state)) +
                                               " and cannot be " + std::string(wish));
}

tl::unexpected<Error> unparkable(const Job& job) {
  const std::string id = std::to_string(job.id);
  return failure(ErrorCode::invalid_state,
                 "job " + id + " " + why_unparkable(job.spec) + ", because others wait on it: `jobctl cancel " + id +
                     "` frees its memory, and `jobctl freeze " + id + "` stops it and leaves its memory where it is");
}

Transition changed(std::vector<JobAction> actions = {}) {
  return Transition{.actions = std::move(actions), .changed = true};
}

void close_freeze(Job& job, BootTime now) {
  if (const auto since = standing_since(job.state)) {
    job.attempt.frozen_total += std::max(now - *since, Microseconds{0});
  }
}

Transition stop(Job& job, StopReason reason, UserId by, const Now& now) {
  std::vector<JobAction> actions;
  if (stands_still(job)) actions.push_back(JobAction::thaw_units);
  actions.push_back(JobAction::stop_units);
  close_freeze(job, now.boot);
  job.state = Stopping{.reason = reason, .by = by, .since = now.real};
  return changed(std::move(actions));
}

void finish(Job& job, const Verdict& verdict, const Now& now) {
  close_freeze(job, now.boot);
  job.attempt.ended = now.real;
  job.attempt.exit_code = verdict.exit_code;
  job.attempt.exit_signal = verdict.exit_signal;
  job.state = Finished{.result = verdict.result, .cause = verdict.cause};
}

// Nothing of what the job still writes would be kept, and thawing it would take memory that there is not.
Transition end_at_once(Job& job, Bytes memory, const Now& now) {
  close_freeze(job, now.boot);
  job.preempted_memory = memory;
  job.state = Stopping{.reason = StopReason::pressure, .since = now.real};
  return changed({JobAction::kill_units});
}

// It runs on meanwhile, but whatever becomes of it, this attempt was ended for others' memory.
Transition end_after_grace(Job& job, Bytes memory, Microseconds grace, const Now& now) {
  job.preempted_memory = memory;
  job.state = Stopping{.reason = StopReason::pressure, .since = now.real, .saves_until = now.boot + grace};
  return changed({JobAction::checkpoint});
}

void back_to_queue(Job& job) {
  const auto number = job.attempt.number;
  job.attempt = Attempt{};
  job.attempt.number = number;
  job.state = Queued{};
}

void back_for_retry(Job& job, const Retry& retry) {
  back_to_queue(job);
  ++job.retries;
  job.retry_time = retry.not_before;
  if (!retry.memory) return;
  job.spec.limits.memory = *retry.memory;
  if (job.spec.limits.memory_max) job.spec.limits.memory_max = *retry.memory;
}

// One overload an event; each knows the states in which it makes sense.
class Applier {
 public:
  Applier(Job& job, const Now& now) : job_(job), now_(now) {}

  Expected<Transition> operator()(const Admitted& event) const {
    if (!in<Queued>(job_)) return impossible(job_, "started");
    const auto number = job_.attempt.number + 1;
    job_.attempt = Attempt{};
    job_.attempt.number = number;
    job_.attempt.boot_id = event.boot_id;
    job_.state = Starting{};
    return changed({JobAction::start_units});
  }

  Expected<Transition> operator()(const Waiting& event) const {
    auto* queued = std::get_if<Queued>(&job_.state);
    if (queued == nullptr) return impossible(job_, "kept waiting");
    if (queued->reason == event.reason && queued->detail == event.detail) return Transition{};
    *queued = Queued{.reason = event.reason, .detail = event.detail};
    return changed();
  }

  Expected<Transition> operator()(const UnitsRunning&) const {
    // A stop may have been asked for while the start was under way: its state stays, but the times are real.
    if (!in<Starting>(job_) && !in<Stopping>(job_)) return impossible(job_, "reported as running");
    if (job_.attempt.started) return Transition{};
    job_.attempt.started = now_.real;
    job_.attempt.started_boot = now_.boot;
    if (in<Starting>(job_)) job_.state = Running{};
    return changed();
  }

  Expected<Transition> operator()(const Ended& event) const {
    if (!has_units(job_.state)) return impossible(job_, "ended");
    job_.attempt.usage = event.usage;
    // One that ends before it was seen running has run all the same, unless PID 1 never got it started.
    if (!job_.attempt.started && event.verdict.result != JobResult::start_failed) {
      job_.attempt.started = event.started.value_or(now_.real);
    }
    const auto* stopping = std::get_if<Stopping>(&job_.state);
    const bool preempted = event.verdict.result == JobResult::preempted;
    const bool again =
        (stopping != nullptr && stopping->reason == StopReason::requeue) || (preempted && job_.spec.requeue);
    if (!preempted) job_.preempted_memory = 0;
    const bool lost_to_reboot = event.verdict.cause.what == CauseKind::reboot && job_.spec.requeue;
    if (again || (lost_to_reboot && stopping == nullptr)) {
      back_to_queue(job_);
    } else if (event.retry) {
      back_for_retry(job_, *event.retry);
    } else {
      finish(job_, event.verdict, now_);
    }
    return changed({JobAction::release_units});
  }

  Expected<Transition> operator()(const StartRefused& event) const {
    if (!in<Starting>(job_) && !in<Stopping>(job_)) return impossible(job_, "refused");
    finish(job_, event.verdict, now_);
    return changed({JobAction::release_units});
  }

  Expected<Transition> operator()(const StartPostponed&) const {
    if (!in<Starting>(job_)) return impossible(job_, "postponed");
    const auto number = job_.attempt.number - 1;
    job_.attempt = Attempt{};
    job_.attempt.number = number;
    job_.state = Queued{};
    return changed();
  }

  Expected<Transition> operator()(const CancelRequested& event) const {
    if (is_waiting(job_.state)) {
      Verdict verdict;
      verdict.result = JobResult::cancelled;
      verdict.exit_code = -1;
      verdict.cause.what = CauseKind::user;
      verdict.cause.by = event.by_name;
      verdict.cause.advice = "Job " + std::to_string(job_.id) + " was cancelled before it started.";
      finish(job_, verdict, now_);
      return changed();
    }
    if (const auto* stopping = std::get_if<Stopping>(&job_.state)) {
      // Cancelling one that is being stopped to run again keeps it from running again; any other stop is as good.
      const bool runs_again =
          stopping->reason == StopReason::requeue || (stopping->reason == StopReason::pressure && job_.spec.requeue);
      // One that is given time to save its work is told to end now, and has no more time than before.
      const bool saves = stopping->saves_until && stopping->reason != StopReason::user;
      if (!runs_again && !saves) return Transition{};
      job_.state = Stopping{
          .reason = StopReason::user, .by = event.by, .since = stopping->since, .saves_until = stopping->saves_until};
      return saves ? changed({JobAction::stop_units}) : changed();
    }
    if (is_finished(job_.state)) return impossible(job_, "cancelled");
    return stop(job_, StopReason::user, event.by, now_);
  }

  Expected<Transition> operator()(const HoldRequested&) const {
    if (in<Held>(job_)) return Transition{};
    if (!in<Queued>(job_)) return impossible(job_, "held (only a waiting job can)");
    job_.state = Held{};
    return changed();
  }

  Expected<Transition> operator()(const ReleaseRequested&) const {
    if (!in<Held>(job_)) return impossible(job_, "released (only a held job can)");
    job_.state = Queued{};
    return changed();
  }

  Expected<Transition> operator()(const RequeueRequested& event) const {
    if (job_.spec.kind != JobKind::batch) {
      return failure(ErrorCode::invalid_state,
                     "job " + std::to_string(job_.id) +
                         " was started by its owner, not by the daemon, and cannot be started again by it");
    }
    if (is_finished(job_.state)) {
      back_to_queue(job_);
      job_.retries = 0;
      job_.retry_time.reset();
      return changed();
    }
    if (!running_or_frozen(job_) && !in<Starting>(job_)) return impossible(job_, "requeued");
    return stop(job_, StopReason::requeue, event.by, now_);
  }

  Expected<Transition> operator()(const FreezeDone&) const {
    if (!in<Running>(job_)) return impossible(job_, "frozen (only a running job can)");
    job_.state = Frozen{.since = now_.boot};
    return changed();
  }

  Expected<Transition> operator()(const ThawDone&) const {
    if (!in<Frozen>(job_)) return impossible(job_, "thawed (only a frozen job can)");
    close_freeze(job_, now_.boot);
    job_.state = Running{};
    return changed();
  }

  Expected<Transition> operator()(const ParkBegun& event) const {
    if (!in<Running>(job_) && !in<Frozen>(job_)) return impossible(job_, "parked (only a running or frozen job can)");
    if (!job_.spec.parkable) return unparkable(job_);
    const auto since = standing_since(job_.state).value_or(now_.boot);
    // One that a person froze is not woken by anybody else.
    const bool by_hand = event.by_hand || in<Frozen>(job_);
    job_.state = Parked{.since = since, .by_hand = by_hand, .moving = true, .reason = event.reason};
    return changed({JobAction::park_units});
  }

  Expected<Transition> operator()(const ParkDone&) const {
    auto* parked = std::get_if<Parked>(&job_.state);
    if (parked == nullptr) return impossible(job_, "reported as moved out");
    if (!std::exchange(parked->moving, false)) return Transition{};
    return changed();
  }

  Expected<Transition> operator()(const UnparkDone&) const {
    if (!in<Parked>(job_)) return impossible(job_, "unparked (only a parked job can)");
    close_freeze(job_, now_.boot);
    job_.state = Running{};
    return changed();
  }

  Expected<Transition> operator()(const PressureDemandsEnd& event) const {
    if (!running_or_frozen(job_) && !in<Stopping>(job_)) return impossible(job_, "ended for others' memory");
    if (auto* stopping = std::get_if<Stopping>(&job_.state)) {
      stopping->saves_until.reset();
      return changed({JobAction::kill_units});  // it is on its way, and not fast enough
    }
    // What stands still can save nothing.
    const bool saves = event.grace && job_.spec.checkpoint_signal && in<Running>(job_);
    return saves ? end_after_grace(job_, event.memory, *event.grace, now_) : end_at_once(job_, event.memory, now_);
  }

  Expected<Transition> operator()(const GraceOver&) const {
    auto* stopping = std::get_if<Stopping>(&job_.state);
    if (stopping == nullptr || !stopping->saves_until) return impossible(job_, "ended after its grace (it has none)");
    stopping->saves_until.reset();
    return changed({JobAction::kill_units});
  }

  Expected<Transition> operator()(const CheckpointDue&) const {
    if (!in<Running>(job_) || !job_.spec.checkpoint_signal) return impossible(job_, "told to save its work");
    if (std::exchange(job_.attempt.checkpointed, true)) return Transition{};
    return changed({JobAction::checkpoint});
  }

  Expected<Transition> operator()(const TimeLimitReached&) const {
    if (!running_or_frozen(job_)) return impossible(job_, "ended by its time limit");
    return stop(job_, StopReason::time_limit, 0, now_);
  }

  Expected<Transition> operator()(const WarningDue&) const {
    if (!in<Running>(job_) || !job_.spec.warn_signal) return impossible(job_, "warned of its time limit");
    if (job_.attempt.warned) return Transition{};
    job_.attempt.warned = true;
    return changed({JobAction::warn});
  }

  Expected<Transition> operator()(const DependencyFailed& event) const {
    if (!is_waiting(job_.state)) return impossible(job_, "ended for what it waits for");
    Verdict verdict;
    verdict.result = JobResult::dependency;
    verdict.cause.what = CauseKind::dependency;
    verdict.cause.advice = "Job " + std::to_string(job_.id) + " never started: " + event.detail + ".";
    finish(job_, verdict, now_);
    return changed();
  }

  Expected<Transition> operator()(const MainProcessExited&) const {
    if (in<Stopping>(job_)) return Transition{};
    if (!running_or_frozen(job_)) return impossible(job_, "reported as exited");
    return stop(job_, StopReason::main_process_exited, 0, now_);
  }

 private:
  Job& job_;
  const Now& now_;
};

}  // namespace

Expected<Transition> apply(Job& job, const JobEvent& event, const Now& now) {
  return std::visit(Applier(job, now), event);
}

std::optional<BootTime> standing_since(const JobState& state) {
  if (const auto* frozen = std::get_if<Frozen>(&state)) return frozen->since;
  if (const auto* parked = std::get_if<Parked>(&state)) return parked->since;
  return std::nullopt;
}

std::optional<BootTime> time_limit_deadline(const Job& job) {
  if (!job.spec.time_limit || !job.attempt.started_boot || !in<Running>(job)) return std::nullopt;
  return *job.attempt.started_boot + *job.spec.time_limit + job.attempt.frozen_total;
}

std::optional<BootTime> warning_deadline(const Job& job) {
  const auto limit = time_limit_deadline(job);
  if (!limit || !job.spec.warn_signal || job.attempt.warned) return std::nullopt;
  return *limit - job.spec.warn_signal->before;
}

std::optional<BootTime> grace_deadline(const Job& job) {
  const auto* stopping = std::get_if<Stopping>(&job.state);
  return stopping != nullptr ? stopping->saves_until : std::nullopt;
}

std::optional<RealTime> earliest_start(const Job& job) {
  if (!job.spec.begin || !job.retry_time) return job.spec.begin ? job.spec.begin : job.retry_time;
  return std::max(*job.spec.begin, *job.retry_time);
}

}  // namespace mljobd::core
