// A training job, and the evidence of the ways in which it can end.
#pragma once

#include <csignal>
#include <string>
#include <utility>

#include "core/death_cause.hpp"

namespace mljobd::core::testing {

inline constexpr Bytes mebi = Bytes{1} << 20;
inline constexpr Bytes gibi = Bytes{1} << 30;
inline const std::string own_slice = "/mljob.slice/mljob-train.slice/mljob-train-42.slice";

inline Job train_job() {
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
inline Evidence ended(ProcessExit exit, std::string result) {
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

inline Evidence exited_with(std::int32_t code) {
  return ended({ProcessExit::Kind::exited, code}, code == 0 ? "success" : "exit-code");
}
inline Evidence killed_by(std::int32_t signal) { return ended({ProcessExit::Kind::killed, signal}, "signal"); }
inline Evidence gone() { return ended({}, "success"); }

inline Evidence with_kernel_kill(Evidence evidence, MemoryEvents local = {}) {
  evidence.slice_events = MemoryEvents{.max = 9, .oom = local.oom, .oom_kill = 1};
  evidence.slice_events_local = local;
  return evidence;
}
inline Evidence oom_killed(MemoryEvents local = {}) {
  auto evidence = with_kernel_kill(killed_by(SIGKILL), local);
  evidence.unit_result = "oom-kill";
  return evidence;
}
inline OomKill record(std::string limited) {
  return {.limited_cgroup = std::move(limited),
          .victim_cgroup = own_slice + "/mljob-42-1.service",
          .victim = {9134, "python3"}};
}

}  // namespace mljobd::core::testing
