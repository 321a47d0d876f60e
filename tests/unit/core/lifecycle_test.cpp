#include "core/lifecycle.hpp"

#include <vector>

#include <catch2/catch.hpp>

#include "lifecycle_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::testing;

TEST_CASE("a job goes from the queue through its units to its end") {
  Job job = job_in(Queued{});
  CHECK(actions_of(job, Admitted{.boot_id = "boot"}) == std::vector{JobAction::start_units});
  CHECK(std::holds_alternative<Starting>(job.state));
  CHECK(job.attempt.number == 1);
  CHECK(actions_of(job, UnitsRunning{}, at(11s)).empty());
  CHECK(std::holds_alternative<Running>(job.state));
  CHECK(job.attempt.started == at(11s).real);
  CHECK(actions_of(job, ended(JobResult::done), at(12s)) == std::vector{JobAction::release_units});
  CHECK(std::get<Finished>(job.state).result == JobResult::done);
  CHECK(job.attempt.ended == at(12s).real);
  CHECK(job.attempt.exit_code == 0);
}

TEST_CASE("a program that ends before it was seen running has a start time all the same") {
  Job job = job_in(Queued{});
  static_cast<void>(actions_of(job, Admitted{.boot_id = "boot"}));
  static_cast<void>(actions_of(job, ended(JobResult::failed)));
  CHECK(job.attempt.started.has_value());
}

TEST_CASE("of a program that ended before it was seen running PID 1 knows when it started") {
  Job job = job_in(Starting{});
  job.attempt.started.reset();
  auto event = ended(JobResult::failed, CauseKind::exit);
  event.started = at(7s).real;
  CHECK(apply(job, event, at(10s)));
  CHECK(job.attempt.started == at(7s).real);
  CHECK(job.attempt.ended == at(10s).real);
}

TEST_CASE("an attempt that is to be followed by another leaves the job in the queue") {
  Job job = job_in(Running{});
  job.spec.limits.memory = 100;
  auto event = ended(JobResult::oom, CauseKind::own_limit);
  event.retry = Retry{.not_before = at(20s).real, .memory = 150};
  CHECK(actions_of(job, event) == std::vector{JobAction::release_units});
  CHECK(std::holds_alternative<Queued>(job.state));
  CHECK(job.attempt.number == 1);
  CHECK(job.retries == 1);
  CHECK(earliest_start(job) == at(20s).real);
  CHECK(job.spec.limits.memory == 150);
  CHECK_FALSE(job.spec.limits.memory_max.has_value());
  job.spec.begin = at(30s).real;
  CHECK(earliest_start(job) == at(30s).real);

  // Somebody who asks for one more run does not wait, and gets all retries anew.
  job.state = Finished{};
  CHECK(apply(job, RequeueRequested{}, at(10s)));
  CHECK(job.retries == 0);
  CHECK_FALSE(job.retry_time.has_value());
}

TEST_CASE("a job is told once an attempt to save its work before its own growth ends it") {
  Job job = job_in(Running{});
  CHECK(refused(job, CheckpointDue{}));
  job.spec.checkpoint_signal = {.number = 10, .grace = 60s};
  for (const auto& state : {JobState(Queued{}), JobState(Starting{}), JobState(Frozen{}), JobState(Parked{}),
                            JobState(Stopping{}), JobState(Finished{})}) {
    Job other = job_in(state);
    other.spec.checkpoint_signal = job.spec.checkpoint_signal;
    CHECK(refused(other, CheckpointDue{}));
  }
  CHECK(actions_of(job, CheckpointDue{}) == std::vector{JobAction::checkpoint});
  CHECK(job.attempt.checkpointed);
  const auto again = apply(job, CheckpointDue{}, at(20s));
  REQUIRE(again);
  CHECK_FALSE(again->changed);
  // What it saved is hours old when others need its memory.
  CHECK(actions_of(job, PressureDemandsEnd{.grace = 60s}) == std::vector{JobAction::checkpoint});
  SECTION("its owner has it ended sooner, and the grace is still the latest") {
    CHECK(actions_of(job, CancelRequested{.by = 1000}) == std::vector{JobAction::stop_units});
    CHECK(actions_of(job, CancelRequested{.by = 1000}).empty());
    CHECK(std::get<Stopping>(job.state).reason == StopReason::user);
    CHECK(grace_deadline(job));
    return;
  }
  job.spec.requeue = true;
  static_cast<void>(actions_of(job, ended(JobResult::preempted, CauseKind::pressure_policy)));
  static_cast<void>(actions_of(job, Admitted{.boot_id = "boot"}));
  CHECK_FALSE(job.attempt.checkpointed);
}

TEST_CASE("a job is warned once an attempt, before its time limit") {
  Job job = job_in(Running{});
  CHECK_FALSE(warning_deadline(job).has_value());
  CHECK(refused(job, WarningDue{}));
  job.spec.time_limit = 100s;
  job.spec.warn_signal = WarnSignal{.number = 10, .before = 30s};
  CHECK(warning_deadline(job) == at(70s).boot);
  CHECK(actions_of(job, WarningDue{}) == std::vector{JobAction::warn});
  CHECK(std::holds_alternative<Running>(job.state));
  CHECK_FALSE(warning_deadline(job).has_value());
  CHECK(actions_of(job, WarningDue{}).empty());
  CHECK(time_limit_deadline(job) == at(100s).boot);
}

TEST_CASE("a job whose dependency can never come true ends without having started") {
  Job job = job_in(Queued{});
  CHECK(actions_of(job, DependencyFailed{.detail = "job 3 ended as failed, not well"}).empty());
  const auto& finished = std::get<Finished>(job.state);
  CHECK(finished.result == JobResult::dependency);
  CHECK(finished.cause.what == CauseKind::dependency);
  CHECK(finished.cause.advice == "Job 7 never started: job 3 ended as failed, not well.");
  CHECK(job.attempt.exit_code == -1);
  CHECK(refused(job_in(Running{}), DependencyFailed{}));
}

TEST_CASE("a program that never started has no start time") {
  Job job = job_in(Queued{});
  static_cast<void>(actions_of(job, Admitted{.boot_id = "boot"}));
  static_cast<void>(actions_of(job, ended(JobResult::start_failed, CauseKind::start)));
  CHECK_FALSE(job.attempt.started.has_value());
}

TEST_CASE("cancelling a waiting job ends it without touching PID 1") {
  for (const JobState& state : {JobState(Queued{}), JobState(Held{})}) {
    Job job = job_in(state);
    CHECK(actions_of(job, CancelRequested{.by = 0, .by_name = "root"}).empty());
    CHECK(std::get<Finished>(job.state).result == JobResult::cancelled);
    CHECK(std::get<Finished>(job.state).cause.by == "root");
  }
}

TEST_CASE("a frozen job is thawed before it is stopped, else it would not see the signal") {
  const JobEvent event = GENERATE(JobEvent(CancelRequested{.by = 1001}), JobEvent(TimeLimitReached{}),
                                  JobEvent(RequeueRequested{.by = 1001}), JobEvent(MainProcessExited{}));
  Job job = job_in(Frozen{.since = at(5s).boot});
  CHECK(actions_of(job, event) == std::vector{JobAction::thaw_units, JobAction::stop_units});
  CHECK(job.attempt.frozen_total == 5s);
}

TEST_CASE("a second cancel changes nothing and is no error") {
  Job job = job_in(Running{});
  CHECK(actions_of(job, CancelRequested{.by = 1001}) == std::vector{JobAction::stop_units});
  CHECK(actions_of(job, CancelRequested{.by = 0}).empty());
  CHECK(std::get<Stopping>(job.state).by == 1001);
}

TEST_CASE("cancelling a job that is being requeued keeps it from running again") {
  Job job = job_in(Running{});
  static_cast<void>(actions_of(job, RequeueRequested{.by = 1001}));
  static_cast<void>(actions_of(job, CancelRequested{.by = 1001}));
  static_cast<void>(actions_of(job, ended(JobResult::cancelled, CauseKind::user)));
  CHECK(std::get<Finished>(job.state).result == JobResult::cancelled);
}

TEST_CASE("a requeued job waits again under the same id and starts as the next attempt") {
  Job job = job_in(Running{});
  CHECK(actions_of(job, RequeueRequested{.by = 1001}) == std::vector{JobAction::stop_units});
  CHECK(actions_of(job, ended(JobResult::cancelled)) == std::vector{JobAction::release_units});
  REQUIRE(std::holds_alternative<Queued>(job.state));
  CHECK_FALSE(job.attempt.started.has_value());
  static_cast<void>(actions_of(job, Admitted{.boot_id = "boot"}));
  CHECK(job.attempt.number == 2);
}

TEST_CASE("a finished batch job can be requeued, a foreground one cannot") {
  Job job = job_in(Finished{.result = JobResult::oom});
  CHECK(actions_of(job, RequeueRequested{.by = 1001}).empty());
  CHECK(std::holds_alternative<Queued>(job.state));
  Job foreground = job_in(Finished{});
  foreground.spec.kind = JobKind::foreground;
  CHECK(refused(foreground, RequeueRequested{.by = 1001}));
}

TEST_CASE("after a reboot only a job that asked for it runs again") {
  Job plain = job_in(Running{});
  static_cast<void>(actions_of(plain, ended(JobResult::lost, CauseKind::reboot)));
  CHECK(std::get<Finished>(plain.state).result == JobResult::lost);
  Job again = job_in(Running{});
  again.spec.requeue = true;
  static_cast<void>(actions_of(again, ended(JobResult::lost, CauseKind::reboot)));
  CHECK(std::holds_alternative<Queued>(again.state));
  Job cancelled = job_in(Stopping{.reason = StopReason::user, .by = 1001});
  cancelled.spec.requeue = true;
  static_cast<void>(actions_of(cancelled, ended(JobResult::lost, CauseKind::reboot)));
  CHECK(is_finished(cancelled.state));
}

TEST_CASE("a start that could not be written down did not happen") {
  Job job = job_in(Queued{});
  static_cast<void>(actions_of(job, Admitted{.boot_id = "boot"}));
  CHECK(actions_of(job, StartPostponed{}).empty());
  CHECK(std::holds_alternative<Queued>(job.state));
  CHECK(job.attempt.number == 0);
}

TEST_CASE("frozen time does not count against the time limit") {
  Job job = job_in(Running{});
  job.spec.time_limit = 60s;
  CHECK(time_limit_deadline(job) == at(60s).boot);
  static_cast<void>(actions_of(job, FreezeDone{}, at(20s)));
  CHECK_FALSE(time_limit_deadline(job).has_value());
  static_cast<void>(actions_of(job, ThawDone{}, at(50s)));
  CHECK(time_limit_deadline(job) == at(90s).boot);
}

TEST_CASE("a stop asked for during the start is not undone by the start") {
  Job job = job_in(Queued{});
  static_cast<void>(actions_of(job, Admitted{.boot_id = "boot"}));
  static_cast<void>(actions_of(job, CancelRequested{.by = 1001}));
  static_cast<void>(actions_of(job, UnitsRunning{}));
  CHECK(std::holds_alternative<Stopping>(job.state));
  CHECK(job.attempt.started.has_value());
}

TEST_CASE("what makes no sense in a state is refused and changes nothing") {
  const JobState waiting[] = {Queued{}, Held{}};
  for (const auto& state : waiting) {
    CHECK(refused(job_in(state), UnitsRunning{}));
    CHECK(refused(job_in(state), ended(JobResult::done)));
    CHECK(refused(job_in(state), FreezeDone{}));
    CHECK(refused(job_in(state), TimeLimitReached{}));
  }
  const JobState finished = Finished{.result = JobResult::done};
  for (const JobEvent& event :
       {JobEvent(Admitted{}), JobEvent(UnitsRunning{}), JobEvent(ended(JobResult::failed)), JobEvent(CancelRequested{}),
        JobEvent(HoldRequested{}), JobEvent(ReleaseRequested{}), JobEvent(FreezeDone{}), JobEvent(ThawDone{}),
        JobEvent(TimeLimitReached{}), JobEvent(MainProcessExited{}), JobEvent(StartPostponed{})}) {
    CHECK(refused(job_in(finished), event));
  }
  CHECK(refused(job_in(Held{}), Admitted{}));
  CHECK(refused(job_in(Running{}), HoldRequested{}));
  CHECK(refused(job_in(Running{}), Admitted{}));
  CHECK(refused(job_in(Queued{}), ReleaseRequested{}));
}

TEST_CASE("a pending reason is news only when it changes") {
  Job job = job_in(Queued{});
  const Waiting reason{.reason = PendingReason::job_class, .detail = "1 of 1 train jobs are running"};
  CHECK(apply(job, reason, at(1s))->changed);
  CHECK_FALSE(apply(job, reason, at(2s))->changed);
}
