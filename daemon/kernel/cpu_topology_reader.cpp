#include "kernel/cpu_topology_reader.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sched.h>

#include "core/format.hpp"
#include "kernel/files.hpp"
#include "kernel/text.hpp"

namespace mljobd::kernel {
namespace {

using core::CpuList;

// Empty when the file is not there, or holds no CPU, as the list of a node that has memory only.
std::optional<CpuList> read_cpu_list(int root, const std::string& name) {
  const auto text = read_file_at(root, name.c_str());
  if (!text) return std::nullopt;
  auto cpus = core::parse_cpu_list(trimmed(*text));
  if (!cpus) return std::nullopt;
  return std::move(*cpus);
}

CpuList own_affinity() {
  constexpr int most = static_cast<int>(core::maximum_cpu) + 1;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most),
                                                             [](cpu_set_t* taken) { CPU_FREE(taken); });
  const std::size_t size = CPU_ALLOC_SIZE(most);
  CpuList cpus;
  if (set && ::sched_getaffinity(0, size, set.get()) == 0) {
    for (std::uint32_t cpu = 0; cpu <= core::maximum_cpu; ++cpu) {
      if (CPU_ISSET_S(cpu, size, set.get())) cpus.push_back(cpu);
    }
  }
  return cpus;
}

CpuList allowed_cpus(int root, std::string cgroup) {
  for (;;) {
    while (cgroup.ends_with('/')) cgroup.pop_back();
    const std::string directory = "sys/fs/cgroup/" + (cgroup.empty() ? "" : cgroup + "/");
    if (auto cpus = read_cpu_list(root, directory + "cpuset.cpus.effective")) return std::move(*cpus);
    if (cgroup.empty()) return own_affinity();
    const auto slash = cgroup.rfind('/');
    cgroup.resize(slash == std::string::npos ? 0 : slash);
  }
}

// A restriction that would leave nothing was not meant for jobs.
CpuList restricted(const CpuList& cpus, const CpuList& to) {
  auto common = core::intersection(cpus, to);
  return common.empty() ? cpus : common;
}

CpuList usable_cpus(int root, const std::string& own_cgroup) {
  const auto allowed = allowed_cpus(root, own_cgroup);
  auto usable = read_cpu_list(root, "sys/devices/system/cpu/online").value_or(allowed);
  usable = restricted(usable, allowed);
  if (const auto isolated = read_cpu_list(root, "sys/devices/system/cpu/isolated")) {
    CpuList others;
    std::set_difference(usable.begin(), usable.end(), isolated->begin(), isolated->end(), std::back_inserter(others));
    usable = restricted(usable, others);
  }
  return usable.empty() ? CpuList{0} : usable;
}

CpuList siblings(int root, std::uint32_t cpu) {
  const std::string directory = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  auto cpus = read_cpu_list(root, directory + "core_cpus_list");
  if (!cpus) cpus = read_cpu_list(root, directory + "thread_siblings_list");
  return cpus.value_or(CpuList{cpu});
}

std::map<std::uint32_t, std::uint32_t> nodes_of_cpus(int root) {
  const std::string directory = "sys/devices/system/node/";
  std::map<std::uint32_t, std::uint32_t> nodes;
  // Numbers in the form of a CPU list, and of fewer nodes than there can be CPUs.
  for (const auto node : read_cpu_list(root, directory + "online").value_or(CpuList{})) {
    const auto cpus = read_cpu_list(root, directory + "node" + std::to_string(node) + "/cpulist");
    for (const auto cpu : cpus.value_or(CpuList{})) nodes.emplace(cpu, node);
  }
  return nodes;
}

}  // namespace

core::CpuTopology read_cpu_topology(const std::string& root, const std::string& own_cgroup) {
  core::CpuTopology topology;
  const auto top = open_directory(AT_FDCWD, root.c_str());
  const int directory = top ? top->get() : -1;  // of which nothing can be read
  const auto nodes = nodes_of_cpus(directory);
  const auto usable = usable_cpus(directory, own_cgroup);
  std::set<std::uint32_t> left(usable.begin(), usable.end());
  for (const auto cpu : usable) {
    // Taken off with its first sibling already; so every CPU is in one core, whatever the files say.
    if (left.erase(cpu) == 0) continue;
    core::PhysicalCore core{.cpus = {cpu}};
    for (const auto sibling : siblings(directory, cpu)) {
      if (left.erase(sibling) != 0) core.cpus.push_back(sibling);
    }
    if (const auto node = nodes.find(cpu); node != nodes.end()) core.node = node->second;
    topology.cores.push_back(std::move(core));
  }
  return topology;
}

}  // namespace mljobd::kernel
