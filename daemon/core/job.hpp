// What a job is: the specification its owner gave, the state it is in, the attempt that runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/array_indices.hpp"
#include "core/dependency.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

// How its processes come into being: PID 1 forks them (batch), the client's blocked child (foreground),
// or they ran already (adopted). The last two live in a scope, which has no exit status of its own.
enum class JobKind { batch, foreground, adopted };

// What the kernel's OOM killer does to the rest of the job: end it whole, or leave the survivors alone.
enum class OomPolicy { kill, keep_running };

// What becomes of what is in the files that a job's output goes to.
enum class OpenMode { append, truncate };

// All limits are of the whole job (its slice), however many processes it has.
// An empty optional means: not asked for; the class's default or systemd's applies.
struct Limits {
  std::optional<Bytes> memory{};          // what admission reserves, and the ceiling unless memory_max is given
  std::optional<Bytes> memory_learned{};  // reserved where `memory` is not given: from earlier jobs; no ceiling
  std::optional<Bytes> memory_max{};      // ceiling; `unlimited` lifts it
  std::optional<Bytes> memory_high{};     // above it the job is slowed down and reclaimed from
  std::optional<Bytes> swap_max{};        // empty means 0: a limit is a limit
  std::optional<std::uint64_t> tasks_max{};
  std::optional<std::uint64_t> cpu_weight{};         // 1..10000
  std::optional<std::uint64_t> io_weight{};          // 1..10000
  std::optional<std::uint32_t> cpu_quota_percent{};  // 100 = one core
  std::optional<std::string> cpu_list{};             // "0-3,8", logical CPUs
  std::uint32_t cpus = 0;                            // whole physical cores to itself; 0 shares the rest
  std::optional<std::int32_t> oom_score_adjust{};    // -1000..1000; never below the class's
  OomPolicy oom_policy = OomPolicy::kill;
  std::optional<Bytes> private_shm{};  // size of a /dev/shm of its own; batch only

  bool operator==(const Limits&) const = default;
};

// Told to the job a while before its time limit ends it.
struct WarnSignal {
  enum class To {
    main_process,  // whoever traps it: the script, the program
    steps,         // all processes but the first, which ignores it: as Slurm does without "B:"
  };
  std::int32_t number = 0;  // 1..64
  Microseconds before{0};   // the time limit
  To to = To::main_process;

  bool operator==(const WarnSignal&) const = default;
};

// Told to the job before others' need, or its own growth, costs it its memory: time to write down where it is.
struct CheckpointSignal {
  std::int32_t number = 0;  // 1..64, to the main process
  Microseconds grace{0};    // from the signal to its end, a second to an hour

  bool operator==(const CheckpointSignal&) const = default;
};

struct JobSpec {
  JobKind kind = JobKind::batch;
  std::string name{};
  std::string class_name{};
  std::vector<std::string> command{};
  std::string workdir{};                   // absolute
  std::vector<std::string> environment{};  // KEY=value
  Limits limits{};
  std::int32_t priority = 0;                   // higher first
  std::optional<Microseconds> time_limit{};    // run time, frozen time not counted
  std::optional<Microseconds> stop_timeout{};  // from SIGTERM to SIGKILL
  bool hold = false;                           // enters the queue held
  bool requeue = false;                        // may be started again after a reboot took it away
  bool parkable = true;                        // may be frozen and moved out to swap: nobody outside waits on it
  std::vector<Dependency> after{};
  std::optional<ArrayIndices> array{};  // of a submission that stands for many; never of one of the jobs
  std::optional<RealTime> begin{};      // not before
  std::optional<WarnSignal> warn_signal{};
  std::optional<CheckpointSignal> checkpoint_signal{};
  std::optional<Microseconds> warmup{};    // what it loads in that time is no growth; empty: the usual warm-up
  std::uint32_t max_retries = 0;           // after ends that were not well, see retry.hpp
  std::uint32_t retry_memory_percent = 0;  // of the present one, after the job's own limit fired; 0: never for that
  bool singleton = false;                  // one of this name and owner at a time
  std::string key{};                       // a second submission with the same one is this job
  std::string output{};                    // absolute path, opened with the owner's rights; empty: our own log
  std::string error{};                     // empty: same place as the output
  OpenMode open_mode = OpenMode::append;   // of both files
  std::string comment{};
  StringMap labels{};

  bool operator==(const JobSpec&) const = default;
};

// The place of a job in its array.
struct ArrayPlace {
  JobId array = 0;  // the id of its first job
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint32_t minimum = 0;
  std::uint32_t maximum = 0;
  std::uint32_t max_running = 0;  // 0 = no bound

  bool operator==(const ArrayPlace&) const = default;
};

enum class PendingReason {
  none,
  resources_memory,
  resources_cpus,
  job_class,
  priority,
  dependency,
  dependency_never_satisfied,
  array_limit,  // as many jobs of its array run as may at a time
  begin_time,
  held,
  draining,
  pressure,
};

enum class StopReason { user, time_limit, requeue, main_process_exited, pressure };

enum class JobResult { done, failed, signalled, cancelled, timeout, oom, preempted, dependency, start_failed, lost };

enum class CauseKind {
  none,  // it ended well
  own_limit,
  class_limit,
  total_limit,
  host_oom,
  oomd,
  pressure_policy,
  time_limit,
  user,
  signal,
  exit,
  dependency,
  shm_full,
  start,
  reboot,
  unknown,
};

// Why a job ended as it did. `advice` is the sentence for people; the rest is the evidence behind it.
struct Cause {
  CauseKind what = CauseKind::none;
  std::optional<Bytes> limit{};
  std::optional<Bytes> peak{};
  std::optional<Bytes> shmem{};
  std::optional<NumberAndName> victim{};  // pid and command name of the killed process
  std::string by{};                       // who or what acted: a user's name, "kernel", "mljobd"
  std::string advice{};

  bool operator==(const Cause&) const = default;
};

// The state is a sum: what belongs to a state exists only in it.
struct Queued {
  PendingReason reason = PendingReason::none;
  std::string detail{};  // "needs 12G, 3G free, waits for 41"
  bool operator==(const Queued&) const = default;
};
struct Held {
  bool operator==(const Held&) const = default;
};
struct Starting {
  bool operator==(const Starting&) const = default;
};
struct Running {
  bool operator==(const Running&) const = default;
};
struct Frozen {
  BootTime since{};
  bool operator==(const Frozen&) const = default;
};
// Frozen, with its memory in swap or on its way there.
struct Parked {
  BootTime since{};      // frozen, by whom ever
  bool by_hand = false;  // only a person wakes it
  bool moving = false;   // its memory is still on its way out
  std::string reason{};  // the sentence why, for people
  bool operator==(const Parked&) const = default;
};
struct Stopping {
  StopReason reason = StopReason::user;
  UserId by = 0;  // meaningful for StopReason::user
  RealTime since{};
  std::optional<BootTime> saves_until{};  // it was told to save its work, and is killed then; empty: no grace
  bool operator==(const Stopping&) const = default;
};
struct Finished {
  JobResult result = JobResult::lost;
  Cause cause{};
  bool operator==(const Finished&) const = default;
};
using JobState = std::variant<Queued, Held, Starting, Running, Frozen, Parked, Stopping, Finished>;

// What the job's slice had used when it was last read; after the end, the final numbers.
struct Usage {
  Bytes memory_current = 0;
  Bytes memory_peak = 0;
  Bytes memory_anon = 0;
  Bytes memory_file = 0;
  Bytes memory_shmem = 0;
  Bytes swap_current = 0;
  Microseconds cpu_time{0};
  Bytes io_read = 0;
  Bytes io_written = 0;
  std::uint64_t tasks = 0;
  std::uint64_t cpu_periods = 0;            // of the quota, in which it wanted to run; 0 without a quota
  std::uint64_t cpu_throttled_periods = 0;  // those of them that the quota cut short
  // How long some task of it waited for a CPU, for data or for memory, and how long all that could have run waited for
  // data or memory (PSI); empty where the kernel does not tell.
  std::optional<Microseconds> cpu_waiting{};
  std::optional<Microseconds> io_waiting{};
  std::optional<Microseconds> io_stalled{};
  std::optional<Microseconds> memory_waiting{};
  std::optional<Microseconds> memory_stalled{};

  bool operator==(const Usage&) const = default;
};

// One run of the job. A requeued job gets a new one, with unit names of its own.
struct Attempt {
  std::uint32_t number = 0;  // 0 = never started
  std::string boot_id{};     // the boot it was started in
  std::optional<RealTime> started{};
  std::optional<BootTime> started_boot{};
  std::optional<RealTime> ended{};
  Microseconds frozen_total{0};  // complete freezes only; the present one is in Frozen or Parked
  std::int32_t exit_code = -1;   // -1 = none
  std::uint32_t exit_signal = 0;
  Usage usage{};
  bool warned = false;        // its warn_signal was sent
  bool checkpointed = false;  // its checkpoint_signal was sent, for its own growth
  // How often the class's and the root slice's own limit had fired when the attempt began: what came on top since
  // tells whose limit a process of the job was killed by.
  std::uint64_t class_oom_before = 0;
  std::uint64_t total_oom_before = 0;
  std::string reserved_cpus{};  // logical CPUs of its own, "2-3,8"; empty: it shares those that nobody has reserved

  bool operator==(const Attempt&) const = default;
};

struct Job {
  JobId id = 0;
  UserId owner = 0;
  std::string owner_name{};
  JobSpec spec{};
  JobState state{};
  RealTime submitted{};
  Attempt attempt{};
  std::optional<ArrayPlace> array{};
  std::uint32_t retries = 0;             // attempts that were made because one had failed
  std::optional<RealTime> retry_time{};  // the next is not made before
  // What it needed when the pressure policy ended its last attempt: it starts again only where that is free.
  Bytes preempted_memory = 0;

  bool operator==(const Job&) const = default;
};

// The words of the D-Bus contract and the command line.
[[nodiscard]] std::string_view to_word(JobKind kind);
[[nodiscard]] std::string_view to_word(OomPolicy policy);  // "kill", "continue"
[[nodiscard]] std::string_view to_word(OpenMode mode);
[[nodiscard]] std::string_view to_word(const JobState& state);  // "queued" …
[[nodiscard]] std::string_view to_word(JobResult result);       // "start-failed" …
[[nodiscard]] std::string_view to_word(CauseKind cause);        // "own-limit" …; none is ""
[[nodiscard]] std::string_view to_word(PendingReason reason);   // "Resources:memory", "Class" …; none is ""
[[nodiscard]] std::string_view to_word(StopReason reason);
[[nodiscard]] std::string_view to_word(WarnSignal::To to);  // "main", "steps"
// The inverse, for the store; empty when the word is not one of ours.
[[nodiscard]] std::optional<JobKind> job_kind_from(std::string_view word);
[[nodiscard]] std::optional<OomPolicy> oom_policy_from(std::string_view word);
[[nodiscard]] std::optional<OpenMode> open_mode_from(std::string_view word);
[[nodiscard]] std::optional<JobResult> job_result_from(std::string_view word);
[[nodiscard]] std::optional<CauseKind> cause_kind_from(std::string_view word);
[[nodiscard]] std::optional<PendingReason> pending_reason_from(std::string_view word);
[[nodiscard]] std::optional<StopReason> stop_reason_from(std::string_view word);
[[nodiscard]] std::optional<WarnSignal::To> warn_signal_to_from(std::string_view word);

// Queued or Held.
[[nodiscard]] bool is_waiting(const JobState& state);
// Starting, Running, Frozen, Parked or Stopping: PID 1 may hold units of it.
[[nodiscard]] bool has_units(const JobState& state);
[[nodiscard]] bool is_finished(const JobState& state);

// Why it may not be parked, as a verb of the job: "was submitted with --no-park"; empty: it may.
[[nodiscard]] std::string why_unparkable(const JobSpec& spec);

// What admission reserves for the job; 0 where it claims nothing.
[[nodiscard]] Bytes memory_claim(const Limits& limits);
// What its slice's MemoryMax is: memory_max, else the claim, else `unlimited`.
[[nodiscard]] Bytes memory_ceiling(const Limits& limits);

}  // namespace mljobd::core
