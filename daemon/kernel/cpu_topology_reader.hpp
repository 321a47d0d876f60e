// Which CPUs there are, which of them are one physical core, and which NUMA node they belong to.
#pragma once

#include <string>

#include "core/cpu_topology.hpp"

namespace mljobd::kernel {

// Reads below `root`:
//   sys/devices/system/cpu/online, less sys/devices/system/cpu/isolated (isolcpus=: the kernel balances no load there)
//   sys/devices/system/cpu/cpuN/topology/core_cpus_list, or thread_siblings_list on kernels before 5.3
//   sys/devices/system/node/online and sys/devices/system/node/nodeN/cpulist
//   sys/fs/cgroup/<own_cgroup>/cpuset.cpus.effective, or that of the nearest cgroup above which has one: what the jobs'
//   slices, which are made in `own_cgroup`, can be given at all
// `own_cgroup` is "" for a system daemon, "user.slice/…" for one under systemd --user. Where no cgroup tells, it is the
// affinity of this process. What is missing or no CPU list is taken as simple as can be: each CPU a core, one node.
// Never empty.
[[nodiscard]] core::CpuTopology read_cpu_topology(const std::string& root, const std::string& own_cgroup);

}  // namespace mljobd::kernel
