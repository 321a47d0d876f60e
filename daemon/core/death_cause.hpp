// Why a job ended: from what PID 1, the kernel and our own records say, never from a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/job.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

struct ProcessExit {
  enum class Kind { unknown, exited, killed };
  Kind kind = Kind::unknown;
  std::int32_t status = 0;  // the exit code, or the signal

  bool operator==(const ProcessExit&) const = default;
};

// memory.events or memory.events.local of a cgroup. `oom` counts where the limit fired; `oom_kill` counts where the
// victim was, and upwards in the hierarchical file.
struct MemoryEvents {
  std::uint64_t max = 0;
  std::uint64_t oom = 0;
  std::uint64_t oom_kill = 0;
  std::uint64_t oom_group_kill = 0;

  bool operator==(const MemoryEvents&) const = default;
};

// The kernel's log record of one kill. Cgroups as in unit_names.hpp: below the root of the hierarchy, with or without
// a leading slash; the root itself ("/" or empty) where the machine as a whole ran out.
struct OomKill {
  std::string limited_cgroup{};
  std::string victim_cgroup{};
  NumberAndName victim{};

  bool operator==(const OomKill&) const = default;
};

struct Evidence {
  bool unit_known = false;    // PID 1 still has the attempt's unit, or said how it ended
  std::string unit_result{};  // systemd's Result: success, exit-code, signal, core-dump, timeout, oom-kill, resources…
  ProcessExit exit{};         // of the main process; of a scope's only where ReportExit told it
  bool start_job_failed = false;
  std::optional<std::string> spawn_failure{};  // PID 1's sentence: "Failed at step EXEC spawning /x: No such file…"
  std::optional<MemoryEvents> slice_events{};  // memory.events of the job's slice
  std::optional<MemoryEvents> slice_events_local{};  // memory.events.local of the same
  // memory.events.local `oom` of the class's slice and of the root slice; what they were before is in Attempt.
  std::uint64_t class_oom_now = 0;
  std::uint64_t total_oom_now = 0;
  std::optional<OomKill> oom_kill{};
  bool killed_by_oomd = false;
  std::optional<Bytes> class_memory_max{};
  std::optional<Bytes> total_memory_max{};
  std::optional<Bytes> effective_memory_max{};  // of the job's slice, as read back
  Usage usage{};
  std::optional<std::pair<Bytes, Bytes>> shm_free_and_total{};  // of the /dev/shm that the job saw, at its end
  bool rebooted = false;                                        // the attempt was started in another boot
  // The main process had gone before the stop that Stopping tells of was asked of PID 1 or the kernel: it did not end
  // for that reason. (Its exit code cannot tell: a job that saves its work on SIGTERM ends with 0 as well.)
  bool exited_before_stop = false;
};

struct Verdict {
  JobResult result = JobResult::lost;
  Cause cause{};
  std::int32_t exit_code = -1;    // -1 = none
  std::uint32_t exit_signal = 0;  // 0 = none

  bool operator==(const Verdict&) const = default;
};

// The job is in a state that has units; a Stopping one says who wanted its end.
[[nodiscard]] Verdict determine_cause(const Job& job, const Evidence& evidence);

}  // namespace mljobd::core
