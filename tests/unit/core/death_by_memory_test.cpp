#include <csignal>
#include <string>

#include <catch2/catch.hpp>

#include "core/death_cause.hpp"
#include "core/text.hpp"
#include "death_cause_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::testing;
using Catch::Contains;
using Catch::Equals;

TEST_CASE("the job's own limit: the whole sentence") {
  auto evidence = oom_killed({.oom = 1});
  evidence.oom_kill = record(own_slice);
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::oom);
  CHECK(verdict.exit_code == -1);
  CHECK(verdict.exit_signal == SIGKILL);
  CHECK(verdict.cause ==
        Cause{.what = CauseKind::own_limit,
              .limit = 32 * gibi,
              .peak = 32 * gibi,
              .shmem = 11 * gibi,
              .victim = NumberAndName{9134, "python3"},
              .by = "kernel",
              .advice = "Job 42 ran out of host memory (not GPU): limit 32.0G, peak 32.0G, 11.0G of it /dev/shm; the "
                        "kernel killed python3 (pid 9134). Try `--mem 48G`, or fewer DataLoader workers."});
}

TEST_CASE("without a kernel record the counters say whose limit it was") {
  auto evidence = oom_killed();
  auto expected = CauseKind::host_oom;  // if nobody's limit counted, the host ran out
  SECTION("the job's") {
    evidence.slice_events_local->oom = 1;
    expected = CauseKind::own_limit;
  }
  SECTION("one inside the job, a container's") {
    evidence.slice_events->oom = 1;
    expected = CauseKind::own_limit;
  }
  SECTION("its class's") {
    evidence.class_oom_now = 4;
    expected = CauseKind::class_limit;
  }
  SECTION("that of all jobs") {
    evidence.total_oom_now = 6;
    expected = CauseKind::total_limit;
  }
  SECTION("systemd-oomd's") {
    evidence.killed_by_oomd = true;
    expected = CauseKind::oomd;
  }
  SECTION("nobody's") {}
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::oom);
  CHECK(verdict.cause.what == expected);
}

TEST_CASE("the nearest limit that counted is the one") {
  auto evidence = oom_killed({.oom = 1});
  evidence.class_oom_now = 4;
  evidence.total_oom_now = 6;
  CHECK(determine_cause(train_job(), evidence).cause.what == CauseKind::own_limit);
  evidence = oom_killed();
  evidence.class_oom_now = 4;
  evidence.total_oom_now = 6;
  CHECK(determine_cause(train_job(), evidence).cause.what == CauseKind::class_limit);
}

TEST_CASE("the kernel's record decides over the counters") {
  struct Row {
    std::string limited;
    CauseKind what;
  };
  const auto row =
      GENERATE(Row{own_slice, CauseKind::own_limit}, Row{own_slice + "/docker-1.scope", CauseKind::own_limit},
               Row{own_slice.substr(1), CauseKind::own_limit},
               Row{"/user.slice/user@1000.service" + own_slice, CauseKind::own_limit},
               Row{"/mljob.slice/mljob-train.slice", CauseKind::class_limit},
               Row{"/mljob.slice", CauseKind::total_limit}, Row{"mljob.slice", CauseKind::total_limit},
               Row{"/", CauseKind::host_oom}, Row{"", CauseKind::host_oom}, Row{"/user.slice", CauseKind::host_oom},
               Row{"/mljob.slice/mljob-train.slice/mljob-train-421.slice", CauseKind::host_oom});
  // Counters that would say something else each time.
  auto evidence = oom_killed({.oom = row.what == CauseKind::own_limit ? 0U : 1U});
  evidence.class_oom_now = 3;
  evidence.oom_kill = record(row.limited);
  INFO(row.limited);
  CHECK(determine_cause(train_job(), evidence).cause.what == row.what);
}

TEST_CASE("a record of another job's death proves nothing") {
  auto evidence = killed_by(SIGKILL);
  evidence.oom_kill = record("/mljob.slice/mljob-train.slice");
  evidence.oom_kill->victim_cgroup = "/mljob.slice/mljob-train.slice/mljob-train-421.slice/mljob-421-1.service";
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::signalled);
  CHECK(verdict.cause.what == CauseKind::signal);
  CHECK_FALSE(verdict.cause.victim);
}

TEST_CASE("a hostile command name reaches no terminal") {
  auto evidence = oom_killed({.oom = 1});
  evidence.oom_kill = record(own_slice);
  evidence.oom_kill->victim.second = "x\x1b[2J\xFF";
  const auto cause = determine_cause(train_job(), evidence).cause;
  CHECK(cause.victim == NumberAndName{9134, "x?[2J?"});
  CHECK(is_valid_utf8(cause.advice));
  CHECK_FALSE(has_control_characters(cause.advice));
}

TEST_CASE("what helps depends on whose limit it was") {
  auto evidence = oom_killed();
  evidence.usage.memory_peak = 8 * gibi;
  evidence.usage.memory_shmem = 0;
  auto job = train_job();
  SECTION("the class's, by a job that kept its word") {
    evidence.class_oom_now = 4;
    evidence.class_memory_max = 20 * gibi;
    const auto cause = determine_cause(job, evidence).cause;
    CHECK(cause.limit == 20 * gibi);
    CHECK_THAT(cause.advice,
               Equals("Job 42 was ended because the jobs of class train together reached their memory limit: limit "
                      "20.0G, peak of this job 8.0G; the kernel killed one of its processes. It kept within what it "
                      "had reserved: let the other jobs reserve what they need with `--mem`. Or run fewer jobs of the "
                      "class at a time."));
  }
  SECTION("that of all, by a job that reserved nothing") {
    job.spec.limits.memory.reset();
    evidence.total_oom_now = 6;
    const auto cause = determine_cause(job, evidence).cause;
    CHECK(cause.limit == 60 * gibi);
    CHECK_THAT(cause.advice, Contains("as with `--mem 12G`, so that it waits until there is room"));
  }
  SECTION("the host's") {
    const auto cause = determine_cause(job, evidence).cause;
    CHECK_FALSE(cause.limit);
    CHECK_THAT(cause.advice, Contains("host_memory_reserve"));
  }
}

TEST_CASE("more memory is suggested in steps a person would take") {
  struct Row {
    Bytes limit;
    std::string text;
  };
  const auto row = GENERATE(Row{64 * mebi, "`--mem 128M`"}, Row{512 * mebi, "`--mem 768M`"}, Row{gibi, "`--mem 2G`"},
                            Row{5 * gibi, "`--mem 8G`"}, Row{32 * gibi, "`--mem 48G`"}, Row{50 * gibi, "`--mem 60G`"},
                            Row{60 * gibi, "It has all that jobs on this machine may use"});
  auto evidence = oom_killed({.oom = 1});
  evidence.effective_memory_max = row.limit;
  CHECK_THAT(determine_cause(train_job(), evidence).cause.advice, Contains(row.text));
}

TEST_CASE("the option to raise is the one that set the limit") {
  auto job = train_job();
  job.spec.limits.memory_max = 32 * gibi;
  CHECK_THAT(determine_cause(job, oom_killed({.oom = 1})).cause.advice, Contains("`--mem-max 48G`"));
  auto inner = oom_killed();
  inner.slice_events->oom = 1;
  CHECK_THAT(determine_cause(job, inner).cause.advice, Contains("limit of the container"));
}

TEST_CASE("a child that was killed explains the failure of its parent") {
  auto evidence = with_kernel_kill(exited_with(1), {.oom = 1});
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::oom);
  CHECK(verdict.cause.what == CauseKind::own_limit);
  CHECK(verdict.exit_code == 1);
  CHECK_THAT(verdict.cause.advice, Contains("The job went on and exited with code 1."));
}

TEST_CASE("a job that survived the loss of a child is done, and told of it") {
  auto evidence = with_kernel_kill(exited_with(0), {.oom = 1});
  if (GENERATE(false, true)) evidence.unit_result = "oom-kill";
  evidence.oom_kill = record(own_slice);
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::done);
  CHECK(verdict.cause.what == CauseKind::none);
  CHECK(verdict.exit_code == 0);
  CHECK_THAT(verdict.cause.advice, Contains("ended well, but it ran out of memory on the way: the kernel killed "
                                            "python3 (pid 9134)"));
}

TEST_CASE("a crash that is not the killer's stays one, with the kill mentioned") {
  const auto verdict = determine_cause(train_job(), with_kernel_kill(killed_by(SIGSEGV), {.oom = 1}));
  CHECK(verdict.result == JobResult::signalled);
  CHECK(verdict.cause.what == CauseKind::signal);
  CHECK_THAT(verdict.cause.advice, Contains("SIGSEGV") && Contains("ran out of memory on the way"));
}

TEST_CASE("systemd-oomd leaves no trace in the counters") {
  auto evidence = killed_by(SIGKILL);
  evidence.killed_by_oomd = true;
  evidence.slice_events_local->oom = 1;  // an allocation that failed, but nobody was killed for it
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::oom);
  CHECK(verdict.cause.what == CauseKind::oomd);
  CHECK(verdict.cause.by == "systemd-oomd");
  CHECK_THAT(
      verdict.cause.advice,
      Contains("pressure: peak of this job 32.0G, 11.0G of it /dev/shm; systemd-oomd killed one of its processes."));
}

TEST_CASE("an OOM kill that only PID 1 noticed is of unknown cause") {
  auto evidence = killed_by(SIGKILL);
  evidence.unit_result = "oom-kill";
  if (GENERATE(false, true)) {
    evidence.slice_events.reset();
    evidence.slice_events_local.reset();
  }
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::oom);
  CHECK(verdict.cause.what == CauseKind::unknown);
  CHECK(verdict.cause.by.empty());
  CHECK_THAT(verdict.cause.advice, Contains("is not known"));
}

TEST_CASE("reaching memory limits without a kill is no cause of death") {
  auto evidence = killed_by(SIGKILL);
  evidence.slice_events = evidence.slice_events_local = MemoryEvents{.max = 1000, .oom = 2};
  evidence.class_oom_now = 10;
  CHECK(determine_cause(train_job(), evidence).cause.what == CauseKind::signal);
}

TEST_CASE("a scope knows no exit, but its end in memory counts") {
  auto job = train_job();
  job.spec.kind = GENERATE(JobKind::foreground, JobKind::adopted);
  auto evidence = with_kernel_kill(gone(), {.oom = 1});
  SECTION("PID 1 says so") { evidence.unit_result = "oom-kill"; }
  SECTION("the kernel killed the whole group") { evidence.slice_events->oom_group_kill = 1; }
  SECTION("systemd-oomd did it") {
    evidence.slice_events = evidence.slice_events_local = MemoryEvents{};
    evidence.killed_by_oomd = true;
  }
  CHECK(determine_cause(job, evidence).result == JobResult::oom);
}

TEST_CASE("a scope that lost one process and ended somehow is not known to have died of it") {
  auto job = train_job();
  job.spec.kind = JobKind::adopted;
  const auto verdict = determine_cause(job, with_kernel_kill(gone(), {.oom = 1}));
  CHECK(verdict.result == JobResult::lost);
  CHECK(verdict.cause.what == CauseKind::unknown);
  CHECK_THAT(verdict.cause.advice, Contains("ran out of memory on the way"));
}

TEST_CASE("an unlimited limit is no figure") {
  auto job = train_job();
  job.spec.limits = {};
  auto evidence = oom_killed({.oom = 1});
  evidence.effective_memory_max = unlimited;
  CHECK_FALSE(determine_cause(job, evidence).cause.limit);
  evidence.effective_memory_max.reset();
  CHECK_FALSE(determine_cause(job, evidence).cause.limit);
}
