// What the machine has for jobs, and how much of it is reserved.
#pragma once

#include "core/cpu_partition.hpp"
#include "core/cpu_topology.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

struct MemoryAccount {
  Bytes total = 0;     // of the machine
  Bytes jobs_max = 0;  // mljob.slice's limit
  Bytes reserved = 0;  // claims of jobs that hold units
};

// The answer to Manager.GetResources.
[[nodiscard]] ValueMap resources_view(const CpuTopology& topology, const CoreAllocations& reserved,
                                      const MemoryAccount& memory);

}  // namespace mljobd::core
