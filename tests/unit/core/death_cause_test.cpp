#include "core/death_cause.hpp"

#include <csignal>
#include <string>

#include <catch2/catch.hpp>

#include "core/signal_names.hpp"
#include "core/text.hpp"

using namespace mljobd::core;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::Equals;

namespace {

constexpr Bytes mebi = Bytes{1} << 20;
constexpr Bytes gibi = Bytes{1} << 30;
const std::string own_slice = "/mljob.slice/mljob-train.slice/mljob-train-42.slice";

Job train_job() {
  Job job;
  job.id = 42;
  job.owner = 1000;
  job.owner_name = "alice";
  job.spec.name = "night";
  job.spec.class_name = "train";
  job.spec.command = {"/usr/bin/python3", "train.py"};
  job.spec.workdir = "/home/alice";
  job.spec.limits.memory = 32 * gibi;
  job.state = Running{};
  job.attempt.number = 1;
  job.attempt.class_oom_before = 3;
  job.attempt.total_oom_before = 5;
  return job;
}

// A unit that PID 1 knows, of a job whose neighbours ran into no limit since it began.
Evidence ended(ProcessExit exit, std::string result) {
  Evidence evidence;
  evidence.unit_known = true;
  evidence.unit_result = std::move(result);
  evidence.exit = exit;
  evidence.slice_events = MemoryEvents{};
  evidence.slice_events_local = MemoryEvents{};
  evidence.class_oom_now = 3;
  evidence.total_oom_now = 5;
  evidence.class_memory_max = unlimited;
  evidence.total_memory_max = 60 * gibi;
  evidence.effective_memory_max = 32 * gibi;
  evidence.usage.memory_peak = 32 * gibi;
  evidence.usage.memory_shmem = 11 * gibi;
  return evidence;
}

Evidence exited_with(std::int32_t code) {
  return ended({ProcessExit::Kind::exited, code}, code == 0 ? "success" : "exit-code");
}
Evidence killed_by(std::int32_t signal) { return ended({ProcessExit::Kind::killed, signal}, "signal"); }
Evidence gone() { return ended({}, "success"); }

Evidence with_kernel_kill(Evidence evidence, MemoryEvents local = {}) {
  evidence.slice_events = MemoryEvents{.max = 9, .oom = local.oom, .oom_kill = 1};
  evidence.slice_events_local = local;
  return evidence;
}
Evidence oom_killed(MemoryEvents local = {}) {
  auto evidence = with_kernel_kill(killed_by(SIGKILL), local);
  evidence.unit_result = "oom-kill";
  return evidence;
}
OomKill record(std::string limited) {
  return {.limited_cgroup = std::move(limited),
          .victim_cgroup = own_slice + "/mljob-42-1.service",
          .victim = {9134, "python3"}};
}

}  // namespace

TEST_CASE("a job that ended well has no cause") {
  const auto verdict = determine_cause(train_job(), exited_with(0));
  CHECK(verdict == Verdict{.result = JobResult::done, .cause = {}, .exit_code = 0, .exit_signal = 0});
}

TEST_CASE("an exit code is kept as it was") {
  const auto verdict = determine_cause(train_job(), exited_with(3));
  CHECK(verdict.result == JobResult::failed);
  CHECK(verdict.cause.what == CauseKind::exit);
  CHECK(verdict.exit_code == 3);
  CHECK(verdict.exit_signal == 0);
  CHECK_THAT(verdict.cause.advice, Equals("Job 42 exited with code 3. Its last output says more: `jobctl logs 42`."));
  CHECK_THAT(determine_cause(train_job(), exited_with(137)).cause.advice, Contains("ended by SIGKILL"));
}

TEST_CASE("systemd's success is no success where a signal ended the job") {
  const auto signal = GENERATE(SIGHUP, SIGINT, SIGTERM, SIGPIPE);
  auto evidence = killed_by(signal);
  evidence.unit_result = "success";
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::signalled);
  CHECK(verdict.cause.what == CauseKind::signal);
  CHECK(verdict.exit_code == -1);
  CHECK(verdict.exit_signal == static_cast<std::uint32_t>(signal));
}

TEST_CASE("a signal is named, and one that we did not send is said to be so") {
  CHECK_THAT(determine_cause(train_job(), killed_by(SIGKILL)).cause.advice,
             Equals("Job 42 was ended by SIGKILL, which mljobd did not send; no memory limit of it was reached."));
  CHECK_THAT(determine_cause(train_job(), killed_by(SIGSEGV)).cause.advice, Contains("SIGSEGV. Its last output"));
}

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

TEST_CASE("what we did explains the signals that followed") {
  auto job = train_job();
  job.spec.time_limit = 2h;
  const auto evidence = GENERATE(killed_by(SIGTERM), killed_by(SIGKILL), exited_with(143), exited_with(0),
                                 oom_killed({.oom = 1}), gone(), Evidence{});
  SECTION("a user") {
    job.state = Stopping{.reason = StopReason::user, .by = 1000};
    const auto verdict = determine_cause(job, evidence);
    CHECK(verdict.result == JobResult::cancelled);
    CHECK(verdict.cause.what == CauseKind::user);
    CHECK(verdict.cause.by == "alice");
    CHECK_THAT(verdict.cause.advice, Equals("Job 42 was cancelled by alice."));
    CHECK((verdict.exit_code == 143) == (evidence.exit.kind == ProcessExit::Kind::exited && evidence.exit.status != 0));
  }
  SECTION("root") {
    job.state = Stopping{.reason = StopReason::user, .by = 0};
    CHECK(determine_cause(job, evidence).cause.by == "root");
  }
  SECTION("the time limit") {
    job.state = Stopping{.reason = StopReason::time_limit};
    const auto verdict = determine_cause(job, evidence);
    CHECK(verdict.result == JobResult::timeout);
    CHECK(verdict.cause.what == CauseKind::time_limit);
    CHECK(verdict.cause.by == "mljobd");
    CHECK_THAT(verdict.cause.advice, Contains("time limit of 2h00m"));
  }
  SECTION("a requeue") {
    job.state = Stopping{.reason = StopReason::requeue};
    CHECK(determine_cause(job, evidence).result == JobResult::cancelled);
  }
}

TEST_CASE("a stop that came too late explains nothing") {
  auto job = train_job();
  job.state = GENERATE(Stopping{.reason = StopReason::user, .by = 1000}, Stopping{.reason = StopReason::time_limit});
  auto evidence = exited_with(0);
  evidence.exited_before_stop = true;
  CHECK(determine_cause(job, evidence).result == JobResult::done);
  evidence = oom_killed({.oom = 1});
  evidence.exited_before_stop = true;
  CHECK(determine_cause(job, evidence).result == JobResult::oom);
}

TEST_CASE("stopping what a main process left behind is not the end of the job") {
  auto job = train_job();
  job.state = Stopping{.reason = StopReason::main_process_exited};
  CHECK(determine_cause(job, exited_with(0)).result == JobResult::done);
  CHECK(determine_cause(job, exited_with(7)).exit_code == 7);
  CHECK(determine_cause(job, killed_by(SIGTERM)).result == JobResult::signalled);
  CHECK(determine_cause(job, oom_killed({.oom = 1})).result == JobResult::oom);
}

TEST_CASE("a program that could not be started is named") {
  auto job = train_job();
  job.spec.command = {"/opt/trian"};
  auto evidence = exited_with(203);
  evidence.start_job_failed = true;
  evidence.spawn_failure = "Failed at step EXEC spawning /opt/trian: No such file or directory";
  const auto verdict = determine_cause(job, evidence);
  CHECK(verdict.result == JobResult::start_failed);
  CHECK(verdict.cause.what == CauseKind::start);
  CHECK(verdict.exit_code == 203);
  CHECK_THAT(
      verdict.cause.advice,
      Equals("Job 42 did not start: its program '/opt/trian' cannot be executed: check its path, its x "
             "permission and its #! line (Failed at step EXEC spawning /opt/trian: No such file or directory)."));
}

TEST_CASE("systemd's own exit codes name the step") {
  struct Row {
    std::int32_t code;
    std::string text;
  };
  const auto row = GENERATE(Row{200, "its folder '/home/alice' cannot be entered"}, Row{203, "'/usr/bin/python3'"},
                            Row{205, "resource limit"}, Row{206, "OOM score"}, Row{209, "its output cannot be written"},
                            Row{216, "`getent passwd 1000`"}, Row{217, "account of alice"}, Row{219, "cgroup"},
                            Row{222, "its error output"}, Row{226, "/dev/shm"}, Row{243, "exit code 243"});
  auto evidence = exited_with(row.code);
  evidence.start_job_failed = true;
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.result == JobResult::start_failed);
  CHECK_THAT(verdict.cause.advice, Contains(row.text));
}

TEST_CASE("a program that did start may exit with any code") {
  const auto code = GENERATE(200, 203, 243);
  const auto verdict = determine_cause(train_job(), exited_with(code));
  CHECK(verdict.result == JobResult::failed);
  CHECK(verdict.cause.what == CauseKind::exit);
  // Type=exec calls a program that failed at once a failed start.
  auto quick = exited_with(3);
  quick.start_job_failed = true;
  CHECK(determine_cause(train_job(), quick).result == JobResult::failed);
  auto died = killed_by(SIGSEGV);
  died.start_job_failed = true;
  CHECK(determine_cause(train_job(), died).result == JobResult::signalled);
}

TEST_CASE("a unit that PID 1 could not set up did not start") {
  auto evidence = gone();
  evidence.unit_result = "resources";
  CHECK(determine_cause(train_job(), evidence).result == JobResult::start_failed);
  evidence.unit_result = "protocol";
  CHECK(determine_cause(train_job(), evidence).result == JobResult::lost);
  evidence.start_job_failed = true;
  CHECK(determine_cause(train_job(), evidence).result == JobResult::start_failed);
  CHECK_THAT(determine_cause(train_job(), evidence).cause.advice, Contains("'protocol'"));
  auto slow = killed_by(SIGKILL);
  slow.start_job_failed = true;
  slow.unit_result = "timeout";
  CHECK(determine_cause(train_job(), slow).result == JobResult::start_failed);
  auto starved = oom_killed({.oom = 1});
  starved.start_job_failed = true;
  CHECK(determine_cause(train_job(), starved).result == JobResult::oom);
  auto unseen = gone();
  unseen.unit_result = "oom-kill";
  unseen.start_job_failed = true;
  CHECK(determine_cause(train_job(), unseen).result == JobResult::oom);
}

TEST_CASE("SIGBUS with a full /dev/shm has its cause") {
  auto evidence = killed_by(SIGBUS);
  evidence.shm_free_and_total = std::pair(Bytes{0}, 64 * mebi);
  evidence.usage.memory_shmem = 64 * mebi;
  auto job = train_job();
  const auto verdict = determine_cause(job, evidence);
  CHECK(verdict.result == JobResult::signalled);
  CHECK(verdict.cause.what == CauseKind::shm_full);
  CHECK(verdict.cause.shmem == 64 * mebi);
  CHECK_THAT(verdict.cause.advice, Contains("was ended by SIGBUS while /dev/shm was full (0B free of 64M)") &&
                                       Contains("`--private-shm 128M`"));
  job.spec.limits.private_shm = 64 * mebi;
  CHECK_THAT(determine_cause(job, evidence).cause.advice, Contains("Try `--private-shm 128M`"));
}

TEST_CASE("a /dev/shm with room is not the cause") {
  const auto free_and_total = GENERATE(std::pair<Bytes, Bytes>{mebi, 100 * mebi}, std::pair<Bytes, Bytes>{0, 0});
  auto evidence = killed_by(SIGBUS);
  evidence.shm_free_and_total = free_and_total;
  CHECK(determine_cause(train_job(), evidence).cause.what == CauseKind::signal);
  evidence.shm_free_and_total.reset();
  CHECK(determine_cause(train_job(), evidence).cause.what == CauseKind::signal);
}

TEST_CASE("an exit beside a full /dev/shm keeps its cause and mentions it") {
  auto evidence = exited_with(1);
  evidence.shm_free_and_total = std::pair(Bytes{0}, 8 * gibi);
  const auto verdict = determine_cause(train_job(), evidence);
  CHECK(verdict.cause.what == CauseKind::exit);
  CHECK_THAT(verdict.cause.advice, Contains("/dev/shm was full (0B free of 8.0G), which may be why"));
  evidence.usage.memory_shmem = 0;
  CHECK_THAT(determine_cause(train_job(), evidence).cause.advice, !Contains("/dev/shm"));
}

TEST_CASE("a reboot takes what ran") {
  auto job = train_job();
  auto evidence = Evidence{};
  evidence.rebooted = true;
  const auto verdict = determine_cause(job, evidence);
  CHECK(verdict.result == JobResult::lost);
  CHECK(verdict.cause.what == CauseKind::reboot);
  CHECK_THAT(verdict.cause.advice, Contains("`jobctl requeue 42`"));
  job.spec.requeue = true;
  CHECK_THAT(determine_cause(job, evidence).cause.advice, !Contains("requeue"));
  // Who wanted it gone has what he wanted; it must not come back.
  job.state = Stopping{.reason = StopReason::user, .by = 1000};
  CHECK(determine_cause(job, evidence).result == JobResult::cancelled);
}

TEST_CASE("unknown is said as unknown") {
  auto job = train_job();
  const auto check_unknown = [&](const Evidence& evidence, const std::string& why) {
    const auto verdict = determine_cause(job, evidence);
    CHECK(verdict.result == JobResult::lost);
    CHECK(verdict.cause.what == CauseKind::unknown);
    CHECK(verdict.exit_code == -1);
    CHECK(verdict.exit_signal == 0);
    CHECK_THAT(verdict.cause.advice, Contains("is not known") && Contains(why));
  };
  check_unknown(Evidence{}, "does not know its unit");
  check_unknown(gone(), "no exit status");
  job.spec.kind = JobKind::adopted;
  check_unknown(gone(), "adopted process");
  job.spec.kind = JobKind::foreground;
  check_unknown(gone(), "`jobctl run`");
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

TEST_CASE("a foreground job's exit is what its caller reported") {
  auto job = train_job();
  job.spec.kind = JobKind::foreground;
  auto evidence = gone();
  evidence.unit_known = false;
  evidence.exit = {ProcessExit::Kind::exited, 0};
  CHECK(determine_cause(job, evidence).result == JobResult::done);
  evidence.exit = {ProcessExit::Kind::killed, SIGINT};
  CHECK(determine_cause(job, evidence).exit_signal == SIGINT);
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

TEST_CASE("signals have their names") {
  CHECK(signal_name(SIGKILL) == "SIGKILL");
  CHECK(signal_name(SIGBUS) == "SIGBUS");
  CHECK(signal_name(40) == "signal 40");
  CHECK(signal_name(0) == "signal 0");
}
