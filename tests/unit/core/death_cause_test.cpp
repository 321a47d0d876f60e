#include "core/death_cause.hpp"

#include <csignal>
#include <string>

#include <catch2/catch.hpp>

#include "core/signal_names.hpp"
#include "death_cause_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::testing;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::Equals;

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
  SECTION("the pressure policy") {
    job.state = Stopping{.reason = StopReason::pressure};
    const auto verdict = determine_cause(job, evidence);
    CHECK(verdict.result == JobResult::preempted);
    CHECK(verdict.cause.what == CauseKind::pressure_policy);
    CHECK(verdict.cause.by == "mljobd");
    CHECK(verdict.cause.peak.has_value() == (evidence.usage.memory_peak > 0));
  }
  SECTION("a requeue") {
    job.state = Stopping{.reason = StopReason::requeue};
    CHECK(determine_cause(job, evidence).result == JobResult::cancelled);
  }
}

TEST_CASE("one that gave way is told what becomes of it") {
  auto job = train_job();
  job.state = Stopping{.reason = StopReason::pressure};
  const auto advice = [&] { return determine_cause(job, killed_by(SIGKILL)).cause.advice; };
  CHECK_THAT(advice(), Contains("was ended so that more important jobs could go on") &&
                           Contains("`jobctl events 42`") && Contains("`--requeue`") &&
                           Contains("`jobctl requeue 42`"));
  job.spec.requeue = true;
  CHECK_THAT(advice(), Contains("It starts again when the memory is free.") && !Contains("--requeue"));
  // Nobody but its owner can start it again.
  job.spec.requeue = false;
  job.spec.kind = JobKind::foreground;
  CHECK_THAT(advice(), Contains("`jobctl events 42`") && !Contains("requeue"));
}

TEST_CASE("a stop that came too late explains nothing") {
  auto job = train_job();
  job.state = GENERATE(Stopping{.reason = StopReason::user, .by = 1000}, Stopping{.reason = StopReason::time_limit},
                       Stopping{.reason = StopReason::pressure});
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

TEST_CASE("an output file that cannot be opened is named") {
  auto job = train_job();
  job.spec.output = "/srv/results/train.log";
  auto evidence = exited_with(209);
  evidence.spawn_failure = "Failed at step STDOUT spawning python3: Permission denied";
  const auto verdict = determine_cause(job, evidence);
  CHECK(verdict.result == JobResult::start_failed);
  CHECK_THAT(verdict.cause.advice, Contains("its output '/srv/results/train.log' cannot be written"));
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

TEST_CASE("signals have their names") {
  CHECK(signal_name(SIGKILL) == "SIGKILL");
  CHECK(signal_name(SIGBUS) == "SIGBUS");
  CHECK(signal_name(40) == "signal 40");
  CHECK(signal_name(0) == "signal 0");
}
