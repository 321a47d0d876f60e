// The processors that jobs can be given: what the machine has, less what is offline, isolated or not the daemon's.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace mljobd::core {

using CpuList = std::vector<std::uint32_t>;  // logical CPUs, sorted and unique; format_cpu_list writes it

struct PhysicalCore {
  CpuList cpus{};          // its SMT siblings; never empty
  std::uint32_t node = 0;  // NUMA node

  bool operator==(const PhysicalCore&) const = default;
};

struct CpuTopology {
  std::vector<PhysicalCore> cores{};  // disjoint, by their first CPU

  bool operator==(const CpuTopology&) const = default;
};

[[nodiscard]] CpuList all_cpus(const CpuTopology& topology);
[[nodiscard]] std::uint32_t core_count(const CpuTopology& topology);
// How many cores have a CPU in the list.
[[nodiscard]] std::uint32_t core_count(const CpuTopology& topology, const CpuList& cpus);
// The numbers of the NUMA nodes that have cores, ascending.
[[nodiscard]] std::vector<std::uint32_t> numa_nodes(const CpuTopology& topology);

[[nodiscard]] bool overlap(const CpuList& some, const CpuList& others);
[[nodiscard]] CpuList intersection(const CpuList& some, const CpuList& others);

}  // namespace mljobd::core
