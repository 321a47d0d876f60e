// How many data-loading workers and threads fit the CPUs that a job has, and how it is told.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cpu_partition.hpp"
#include "core/cpu_topology.hpp"
#include "core/job.hpp"
#include "core/storage.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

// Workers for each of `processes` trainings on so many physical cores: cores / processes, rounded down; for a single
// one cores - 1, because the operating system and the training itself need one. Never below 1. Both count as 1 when 0.
[[nodiscard]] std::uint32_t num_workers(std::uint32_t cores, std::uint32_t processes);

// What a job may run on.
struct CpuAllotment {
  std::uint32_t cpus = 1;                        // logical CPUs: what sched_getaffinity tells
  std::uint32_t cores = 1;                       // physical cores that they belong to
  bool reserved = false;                         // nobody else's
  std::uint32_t sharing_jobs = 1;                // jobs on the same CPUs, this one included; 1 when reserved
  std::optional<std::uint32_t> quota_percent{};  // 100 = one CPU

  bool operator==(const CpuAllotment&) const = default;
};

// Of a job that has `reserved` for itself, or, where that is empty, shares `shared` with others, less what its own
// cpu_list leaves out.
[[nodiscard]] CpuAllotment cpu_allotment(const CpuTopology& topology, const CpuList& reserved, const CpuList& shared,
                                         const Limits& limits, std::uint32_t sharing_jobs);

// CPUs that it can keep busy: those of the cpuset, or as many as the quota pays for, rounded down. At least 1.
[[nodiscard]] std::uint32_t usable_cpus(const CpuAllotment& allotment);
[[nodiscard]] std::uint32_t num_workers(const CpuAllotment& allotment);

// "KEY=value" to add to the job's own environment: MLJOB_CPUS (usable_cpus) and MLJOB_NUM_WORKERS for every job. For
// one that reserved cores or has a quota also the variables that set the number of threads in OpenMP, MKL, OpenBLAS,
// NumExpr and Python, each unless `environment` has it: a library that counts the machine's CPUs starts more threads
// than can run. (nproc counts OMP_NUM_THREADS, too: coreutils 9.1.)
[[nodiscard]] std::vector<std::string> cpu_environment(const CpuAllotment& allotment,
                                                       std::span<const std::string> environment);

// What was seen, what would come of a change, and what to type for it; the last may be empty.
struct Finding {
  std::string evidence{};
  std::string effect{};
  std::string command{};

  bool operator==(const Finding&) const = default;
};

struct Advice {
  JobId job = 0;  // 0: for jobs that are still to be submitted
  std::uint32_t jobs = 1;
  std::uint32_t num_workers = 1;
  std::uint32_t threads = 1;
  std::uint32_t cores = 1;  // physical
  std::uint32_t cpus = 1;   // logical
  Storage storage{};
  std::vector<Finding> findings{};  // never empty

  bool operator==(const Advice&) const = default;
};

inline constexpr std::uint32_t most_advised_jobs = 10000;

// For `jobs` trainings side by side on the whole machine (1..most_advised_jobs). Errors: invalid_spec.
[[nodiscard]] Expected<Advice> advise_machine(const CpuTopology& topology, std::uint32_t jobs, const Storage& storage);

// How many workers the storage can do with, where its kind makes a difference to `workers`.
[[nodiscard]] std::uint32_t workers_for(StorageType type, std::uint32_t workers);
// "NVMe (nvme0n1)", "a hard disk (sda)"; "storage of unknown kind" where there is nothing to say.
[[nodiscard]] std::string storage_text(const Storage& storage);

// The answer to Manager.Advise.
[[nodiscard]] ValueMap advice_view(const Advice& advice);

}  // namespace mljobd::core
