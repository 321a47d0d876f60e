// Who runs on which cores: jobs that reserve get whole physical cores of their own, all others share the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cpu_topology.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// Jobs that reserve, with the logical CPUs that are theirs: what is kept with the job and read back after a restart.
using CoreAllocations = std::map<JobId, CpuList>;

// Physical cores that all reservations together can have. One is never reserved: it is for the operating system, and
// for the jobs that reserve nothing. 0 on a machine of one core.
[[nodiscard]] std::uint32_t cores_for_jobs(const CpuTopology& topology);

// Whole cores for one more job beside the present ones: of the NUMA node with the least room that is enough, else of as
// few nodes as possible; close together; the lowest numbers. Empty when fewer than `cores` are free; it is never empty
// as long as the present ones are of this topology and all counts together are at most cores_for_jobs.
[[nodiscard]] std::optional<CpuList> choose_cores(const CpuTopology& topology, const CoreAllocations& present,
                                                  std::uint32_t cores);

// The CPUs of all jobs that reserve nothing; never empty on a machine that has any.
[[nodiscard]] CpuList shared_cpus(const CpuTopology& topology, const CoreAllocations& present);

struct CoreRequest {
  JobId job = 0;
  std::uint32_t cores = 0;  // 0 reserves nothing
};

struct CpuPartition {
  CoreAllocations reserved{};
  CpuList shared{};
  std::vector<JobId> unplaced{};  // requests that do not fit beside what is allocated
};

// What is allocated stays where it is; the requests are served in their order. A function of its arguments alone:
// served again with the allocations that it gave, it gives the same.
[[nodiscard]] CpuPartition partition_cores(const CpuTopology& topology, const CoreAllocations& present,
                                           std::span<const CoreRequest> requests);

struct RestoredAllocations {
  CoreAllocations reserved{};
  std::vector<std::string> warnings{};  // one sentence for each job whose CPUs are not what they were
};

// The kept allocations on the topology of today, which may be another: a CPU went offline, was isolated, SMT was
// switched. Each job keeps the whole cores that it had a part in and that no job with a lower id has; one that has none
// left shares, and is not among the reserved any more. One core is always left.
[[nodiscard]] RestoredAllocations restore_allocations(const CpuTopology& topology, const CoreAllocations& kept);

}  // namespace mljobd::core
