// The states of giving way: parked, and ended for others' memory.
#include <vector>

#include <catch2/catch.hpp>

#include "core/lifecycle.hpp"
#include "lifecycle_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::testing;

TEST_CASE("a job is parked, and runs again where it stood") {
  Job job = job_in(Running{});
  CHECK(actions_of(job, ParkBegun{.reason = "12M available"}, at(20s)) == std::vector{JobAction::park_units});
  CHECK(job.state == JobState(Parked{.since = at(20s).boot, .moving = true, .reason = "12M available"}));
  CHECK(actions_of(job, ParkDone{}, at(25s)).empty());
  CHECK(job.state == JobState(Parked{.since = at(20s).boot, .reason = "12M available"}));
  CHECK_FALSE(apply(job, ParkDone{}, at(26s))->changed);
  CHECK(actions_of(job, UnparkDone{}, at(50s)).empty());
  CHECK(std::holds_alternative<Running>(job.state));
  CHECK(job.attempt.frozen_total == 30s);
}

TEST_CASE("one that others wait on is parked by nobody, and its owner reads what to do instead") {
  const JobState before = GENERATE(JobState(Running{}), JobState(Frozen{.since = at(5s).boot}));
  const bool by_hand = GENERATE(false, true);
  Job job = job_in(before);
  job.id = 7;
  job.spec.parkable = false;
  const auto outcome = apply(job, ParkBegun{.by_hand = by_hand}, at(20s));
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::invalid_state);
  CHECK(outcome.error().message ==
        "job 7 was submitted with --no-park, because others wait on it: `jobctl cancel 7` frees its memory, and "
        "`jobctl freeze 7` stops it and leaves its memory where it is");
  CHECK(job.state == before);
}

TEST_CASE("one that is to run again before all of it is out is not moved any further") {
  Job job = job_in(Running{});
  static_cast<void>(actions_of(job, ParkBegun{}));
  CHECK(actions_of(job, UnparkDone{}, at(13s)).empty());
  CHECK(std::holds_alternative<Running>(job.state));
  CHECK(refused(job, ParkDone{}));
}

TEST_CASE("one that a person froze or parked is that person's to wake") {
  Job frozen = job_in(Frozen{.since = at(5s).boot});
  static_cast<void>(actions_of(frozen, ParkBegun{.by_hand = false, .reason = "why"}, at(20s)));
  CHECK(frozen.state == JobState(Parked{.since = at(5s).boot, .by_hand = true, .moving = true, .reason = "why"}));
  CHECK(frozen.attempt.frozen_total == 0s);
  static_cast<void>(actions_of(frozen, UnparkDone{}, at(25s)));
  CHECK(frozen.attempt.frozen_total == 20s);

  Job asked = job_in(Running{});
  static_cast<void>(actions_of(asked, ParkBegun{.by_hand = true}));
  CHECK(std::get<Parked>(asked.state).by_hand);
}

TEST_CASE("a parked job is thawed before it is stopped") {
  const JobEvent event = GENERATE(JobEvent(CancelRequested{.by = 1001}), JobEvent(TimeLimitReached{}),
                                  JobEvent(RequeueRequested{.by = 1001}), JobEvent(MainProcessExited{}));
  const bool moving = GENERATE(false, true);
  Job job = job_in(Parked{.since = at(5s).boot, .moving = moving});
  CHECK(actions_of(job, event) == std::vector{JobAction::thaw_units, JobAction::stop_units});
  CHECK(std::holds_alternative<Stopping>(job.state));
  CHECK(job.attempt.frozen_total == 5s);
}

TEST_CASE("parked time does not count against the time limit") {
  Job job = job_in(Running{});
  job.spec.time_limit = 60s;
  job.spec.warn_signal = WarnSignal{.number = 10, .before = 10s};
  static_cast<void>(actions_of(job, ParkBegun{}, at(20s)));
  CHECK_FALSE(time_limit_deadline(job).has_value());
  CHECK_FALSE(warning_deadline(job).has_value());
  static_cast<void>(actions_of(job, ParkDone{}, at(25s)));
  CHECK_FALSE(time_limit_deadline(job).has_value());
  static_cast<void>(actions_of(job, UnparkDone{}, at(50s)));
  CHECK(time_limit_deadline(job) == at(90s).boot);
  CHECK(warning_deadline(job) == at(80s).boot);
}

TEST_CASE("since when a job stands still") {
  CHECK(standing_since(Frozen{.since = at(5s).boot}) == at(5s).boot);
  CHECK(standing_since(Parked{.since = at(6s).boot}) == at(6s).boot);
  CHECK_FALSE(standing_since(Running{}).has_value());
  CHECK_FALSE(standing_since(Stopping{}).has_value());
}

TEST_CASE("one that has to give way for good is killed where it stands") {
  const JobState state =
      GENERATE(JobState(Running{}), JobState(Frozen{.since = at(4s).boot}), JobState(Parked{.since = at(4s).boot}));
  Job job = job_in(state);
  CHECK(actions_of(job, PressureDemandsEnd{.memory = 812}) == std::vector{JobAction::kill_units});
  REQUIRE(std::holds_alternative<Stopping>(job.state));
  CHECK(std::get<Stopping>(job.state).reason == StopReason::pressure);
  CHECK(std::get<Stopping>(job.state).since == at(10s).real);
  CHECK(job.attempt.frozen_total == (std::holds_alternative<Running>(state) ? 0s : 6s));
  CHECK(job.preempted_memory == 812);
}

TEST_CASE("one that can save its work is told to, and killed when its time is over") {
  Job job = job_in(Running{});
  job.spec.checkpoint_signal = {.number = 10, .grace = 5min};
  CHECK(actions_of(job, PressureDemandsEnd{.memory = 812, .grace = 60s}) == std::vector{JobAction::checkpoint});
  REQUIRE(std::holds_alternative<Stopping>(job.state));
  CHECK(std::get<Stopping>(job.state).reason == StopReason::pressure);
  CHECK(job.preempted_memory == 812);
  CHECK(grace_deadline(job) == at(70s).boot);
  SECTION("it is") { CHECK(actions_of(job, GraceOver{}, at(70s)) == std::vector{JobAction::kill_units}); }
  SECTION("memory does not last that long") {
    CHECK(actions_of(job, PressureDemandsEnd{.memory = 900}, at(30s)) == std::vector{JobAction::kill_units});
    CHECK(job.preempted_memory == 812);
  }
  CHECK_FALSE(grace_deadline(job).has_value());
  CHECK(refused(job, GraceOver{}));
}

TEST_CASE("a grace is for what runs and has a signal for it") {
  Job without = job_in(Running{});
  CHECK(actions_of(without, PressureDemandsEnd{.grace = 60s}) == std::vector{JobAction::kill_units});
  Job parked = job_in(Parked{.since = at(4s).boot});
  parked.spec.checkpoint_signal = {.number = 10, .grace = 5min};
  CHECK(actions_of(parked, PressureDemandsEnd{.grace = 60s}) == std::vector{JobAction::kill_units});
  CHECK_FALSE(grace_deadline(parked).has_value());
  CHECK(refused(job_in(Running{}), GraceOver{}));
  CHECK(refused(job_in(Stopping{}), GraceOver{}));
}

TEST_CASE("a job that saves its work and then exits has given way all the same, and one that is cancelled still ends") {
  Job job = job_in(Running{});
  job.spec.requeue = true;
  job.spec.checkpoint_signal = {.number = 10, .grace = 5min};
  static_cast<void>(actions_of(job, PressureDemandsEnd{.memory = 812, .grace = 60s}));
  SECTION("it exits") {
    static_cast<void>(actions_of(job, ended(JobResult::preempted, CauseKind::pressure_policy)));
    CHECK(std::holds_alternative<Queued>(job.state));
    CHECK(job.preempted_memory == 812);
  }
  SECTION("it is cancelled") {
    CHECK(actions_of(job, CancelRequested{.by = 1001}) == std::vector{JobAction::stop_units});
    CHECK(std::get<Stopping>(job.state).reason == StopReason::user);
    CHECK(grace_deadline(job) == at(70s).boot);
    CHECK(actions_of(job, GraceOver{}, at(70s)) == std::vector{JobAction::kill_units});
  }
}

TEST_CASE("one that is being stopped too slowly is killed for the reason that it had") {
  Job job = job_in(Stopping{.reason = StopReason::user, .by = 1001});
  CHECK(actions_of(job, PressureDemandsEnd{.memory = 812}) == std::vector{JobAction::kill_units});
  CHECK(std::get<Stopping>(job.state).reason == StopReason::user);
  CHECK(job.preempted_memory == 0);
}

TEST_CASE("one that gave way waits again only where it was asked for, with what it needed") {
  Job again = job_in(Running{});
  again.spec.requeue = true;
  static_cast<void>(actions_of(again, PressureDemandsEnd{.memory = 812}));
  CHECK(actions_of(again, ended(JobResult::preempted, CauseKind::pressure_policy)) ==
        std::vector{JobAction::release_units});
  CHECK(std::holds_alternative<Queued>(again.state));
  CHECK(again.preempted_memory == 812);
  CHECK(again.retries == 0);
  // What it needed is known until it ends in another way.
  static_cast<void>(actions_of(again, Admitted{.boot_id = "boot"}));
  CHECK(again.attempt.number == 2);
  CHECK(again.preempted_memory == 812);
  static_cast<void>(actions_of(again, ended(JobResult::done)));
  CHECK(again.preempted_memory == 0);

  Job plain = job_in(Running{});
  static_cast<void>(actions_of(plain, PressureDemandsEnd{.memory = 812}));
  static_cast<void>(actions_of(plain, ended(JobResult::preempted, CauseKind::pressure_policy)));
  REQUIRE(std::holds_alternative<Finished>(plain.state));
  CHECK(std::get<Finished>(plain.state).result == JobResult::preempted);
  CHECK(std::get<Finished>(plain.state).cause.what == CauseKind::pressure_policy);
}

TEST_CASE("cancelling a job that gives way keeps it from running again") {
  Job job = job_in(Running{});
  job.spec.requeue = true;
  static_cast<void>(actions_of(job, PressureDemandsEnd{.memory = 812}));
  CHECK(actions_of(job, CancelRequested{.by = 1001}).empty());
  CHECK(std::get<Stopping>(job.state).reason == StopReason::user);
  CHECK(std::get<Stopping>(job.state).by == 1001);
  static_cast<void>(actions_of(job, ended(JobResult::cancelled, CauseKind::user)));
  CHECK(is_finished(job.state));

  // One that would not run again has given way all the same.
  Job plain = job_in(Stopping{.reason = StopReason::pressure});
  CHECK(actions_of(plain, CancelRequested{.by = 1001}).empty());
  CHECK(std::get<Stopping>(plain.state).reason == StopReason::pressure);
}

TEST_CASE("only what runs or is frozen can be parked, and only what is parked be unparked") {
  const JobState cannot[] = {Queued{}, Held{}, Starting{}, Parked{}, Stopping{}, Finished{}};
  for (const auto& state : cannot) {
    CAPTURE(to_word(state));
    CHECK(refused(job_in(state), ParkBegun{}));
  }
  const JobState not_parked[] = {Queued{}, Held{}, Starting{}, Running{}, Frozen{}, Stopping{}, Finished{}};
  for (const auto& state : not_parked) {
    CAPTURE(to_word(state));
    CHECK(refused(job_in(state), UnparkDone{}));
    CHECK(refused(job_in(state), ParkDone{}));
  }
  // It is not thawed as a frozen one is: its right to swap has to be taken back with it.
  CHECK(refused(job_in(Parked{}), ThawDone{}));
  CHECK(refused(job_in(Parked{}), FreezeDone{}));
  const JobState nothing_to_end[] = {Queued{}, Held{}, Starting{}, Finished{}};
  for (const auto& state : nothing_to_end) CHECK(refused(job_in(state), PressureDemandsEnd{}));
}

TEST_CASE("a parked job can end by itself, and be lost to a reboot") {
  Job job = job_in(Parked{.since = at(5s).boot});
  CHECK(actions_of(job, ended(JobResult::signalled, CauseKind::signal)) == std::vector{JobAction::release_units});
  CHECK(job.attempt.frozen_total == 5s);
  Job again = job_in(Parked{.since = at(5s).boot});
  again.spec.requeue = true;
  static_cast<void>(actions_of(again, ended(JobResult::lost, CauseKind::reboot)));
  CHECK(std::holds_alternative<Queued>(again.state));
}
