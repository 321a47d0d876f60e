#include "core/cpu_partition.hpp"

#include <algorithm>
#include <utility>

#include "core/format.hpp"

namespace mljobd::core {
namespace {

using CoreIndex = std::size_t;  // into CpuTopology::cores

// Free cores of each NUMA node, ascending; nodes without any are left out.
using FreeCores = std::map<std::uint32_t, std::vector<CoreIndex>>;

CpuList taken_cpus(const CoreAllocations& present) {
  CpuList taken;
  for (const auto& [id, cpus] : present) taken.insert(taken.end(), cpus.begin(), cpus.end());
  std::sort(taken.begin(), taken.end());
  return taken;
}

// Without the first free one, which is left to the operating system: its own work that cannot be moved (interrupts,
// per-CPU kernel threads of CPU 0) is on the lowest numbers.
FreeCores free_cores(const CpuTopology& topology, const CoreAllocations& present) {
  const CpuList taken = taken_cpus(present);
  FreeCores free;
  bool left_one = false;
  for (CoreIndex index = 0; index < topology.cores.size(); ++index) {
    const auto& core = topology.cores[index];
    if (overlap(core.cpus, taken)) continue;
    if (std::exchange(left_one, true)) free[core.node].push_back(index);
  }
  return free;
}

// `count` of the node's free cores, which has as many, with the fewest others in between.
std::vector<CoreIndex> closest_together(const std::vector<CoreIndex>& free, std::size_t count) {
  auto best = free.begin();
  for (auto first = free.begin(); static_cast<std::size_t>(free.end() - first) >= count; ++first) {
    const auto span = [count](auto start) { return start[static_cast<std::ptrdiff_t>(count) - 1] - *start; };
    if (span(first) < span(best)) best = first;
  }
  return {best, best + static_cast<std::ptrdiff_t>(count)};
}

FreeCores::iterator least_sufficient(FreeCores& free, std::size_t count) {
  auto best = free.end();
  for (auto node = free.begin(); node != free.end(); ++node) {
    if (node->second.size() < count) continue;
    if (best == free.end() || node->second.size() < best->second.size()) best = node;
  }
  return best;
}

FreeCores::iterator largest(FreeCores& free) {
  return std::max_element(free.begin(), free.end(),
                          [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
}

std::size_t count_of(const FreeCores& free) {
  std::size_t count = 0;
  for (const auto& [node, cores] : free) count += cores.size();
  return count;
}

std::string lost_cpus(JobId id, const CpuList& had, const CpuList& has) {
  const std::string what = "job " + std::to_string(id) + " had the CPUs " + format_cpu_list(had) + " of its own and ";
  if (has.empty()) {
    return what +
           "shares now, because none of them can be reserved any more (offline, isolated, or taken from the "
           "daemon); `jobctl requeue " +
           std::to_string(id) + "` gives it cores again";
  }
  return what + "has " + format_cpu_list(has) +
         " now, because the machine's CPUs changed (offline, isolated, or SMT switched); `jobctl requeue " +
         std::to_string(id) + "` gives it as many cores as it asked for";
}

}  // namespace

std::uint32_t cores_for_jobs(const CpuTopology& topology) { return std::max(core_count(topology), 1U) - 1; }

std::optional<CpuList> choose_cores(const CpuTopology& topology, const CoreAllocations& present, std::uint32_t cores) {
  FreeCores free = free_cores(topology, present);
  if (cores == 0 || count_of(free) < cores) return std::nullopt;
  CpuList cpus;
  const auto take = [&](const std::vector<CoreIndex>& chosen) {
    for (const auto index : chosen) {
      const auto& core = topology.cores[index];
      cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
    }
  };
  std::size_t missing = cores;
  auto node = least_sufficient(free, missing);
  while (node == free.end()) {
    const auto whole = largest(free);
    take(whole->second);
    missing -= whole->second.size();
    free.erase(whole);
    node = least_sufficient(free, missing);
  }
  take(closest_together(node->second, missing));
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

CpuList shared_cpus(const CpuTopology& topology, const CoreAllocations& present) {
  const CpuList taken = taken_cpus(present);
  CpuList cpus;
  for (const auto& core : topology.cores) {
    if (!overlap(core.cpus, taken)) cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

CpuPartition partition_cores(const CpuTopology& topology, const CoreAllocations& present,
                             std::span<const CoreRequest> requests) {
  CpuPartition partition{.reserved = present};
  for (const auto& request : requests) {
    if (request.cores == 0 || partition.reserved.contains(request.job)) continue;
    if (auto cpus = choose_cores(topology, partition.reserved, request.cores)) {
      partition.reserved.emplace(request.job, std::move(*cpus));
    } else {
      partition.unplaced.push_back(request.job);
    }
  }
  partition.shared = shared_cpus(topology, partition.reserved);
  return partition;
}

RestoredAllocations restore_allocations(const CpuTopology& topology, const CoreAllocations& kept) {
  RestoredAllocations restored;
  std::size_t left = topology.cores.size();
  for (const auto& [id, had] : kept) {
    if (had.empty()) continue;
    const CpuList taken = taken_cpus(restored.reserved);
    CpuList has;
    for (const auto& core : topology.cores) {
      if (left <= 1 || !overlap(core.cpus, had) || overlap(core.cpus, taken)) continue;
      has.insert(has.end(), core.cpus.begin(), core.cpus.end());
      --left;
    }
    std::sort(has.begin(), has.end());
    if (has != had) restored.warnings.push_back(lost_cpus(id, had, has));
    if (!has.empty()) restored.reserved.emplace(id, std::move(has));
  }
  return restored;
}

}  // namespace mljobd::core
