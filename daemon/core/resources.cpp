#include "core/resources.hpp"

#include <algorithm>

#include "core/format.hpp"

namespace mljobd::core {

ValueMap resources_view(const CpuTopology& topology, const CoreAllocations& reserved, const MemoryAccount& memory) {
  const auto for_jobs = cores_for_jobs(topology);
  std::uint32_t taken = 0;
  for (const auto& [job, cpus] : reserved) taken += core_count(topology, cpus);
  return {{"logical_cpus", static_cast<std::uint32_t>(all_cpus(topology).size())},
          {"cores", core_count(topology)},
          {"cores_for_jobs", for_jobs},
          {"cores_reserved", taken},
          {"cores_free", for_jobs - std::min(taken, for_jobs)},
          {"shared_cpus", format_cpu_list(shared_cpus(topology, reserved))},
          {"numa_nodes", static_cast<std::uint32_t>(numa_nodes(topology).size())},
          {"memory_total", memory.total},
          {"memory_jobs", memory.jobs_max},
          {"memory_reserved", memory.reserved},
          {"memory_free", memory.jobs_max - std::min(memory.reserved, memory.jobs_max)}};
}

}  // namespace mljobd::core
