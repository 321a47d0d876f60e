#include "core/cpu_topology.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace mljobd::core {

CpuList all_cpus(const CpuTopology& topology) {
  CpuList cpus;
  for (const auto& core : topology.cores) cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::uint32_t core_count(const CpuTopology& topology) { return static_cast<std::uint32_t>(topology.cores.size()); }

std::uint32_t core_count(const CpuTopology& topology, const CpuList& cpus) {
  return static_cast<std::uint32_t>(std::count_if(topology.cores.begin(), topology.cores.end(),
                                                  [&](const PhysicalCore& core) { return overlap(core.cpus, cpus); }));
}

std::vector<std::uint32_t> numa_nodes(const CpuTopology& topology) {
  std::set<std::uint32_t> nodes;
  for (const auto& core : topology.cores) nodes.insert(core.node);
  return {nodes.begin(), nodes.end()};
}

bool overlap(const CpuList& some, const CpuList& others) {
  return std::any_of(some.begin(), some.end(),
                     [&](std::uint32_t cpu) { return std::binary_search(others.begin(), others.end(), cpu); });
}

CpuList intersection(const CpuList& some, const CpuList& others) {
  CpuList common;
  std::set_intersection(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(common));
  return common;
}

}  // namespace mljobd::core
