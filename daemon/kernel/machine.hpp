// What the machine is made of, and what its kernel can do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cpu_topology.hpp"
#include "core/types.hpp"

namespace mljobd::kernel {

struct Machine {
  core::Bytes total_memory = 0;      // MemTotal
  core::Bytes available_memory = 0;  // MemAvailable: what can be had without swapping
  core::Bytes swap_total = 0;
  core::CpuTopology topology{};  // of the CPUs that jobs can be given
  std::string boot_id{};
};

// Reads <root>/proc/meminfo and <root>/proc/sys/kernel/random/boot_id; each is needed, and the error (storage) names
// the one that failed. The topology is read_cpu_topology's. `own_cgroup` is below the cgroup hierarchy's root: "" for a
// system daemon, user.slice/… for one under systemd --user.
[[nodiscard]] core::Expected<Machine> read_machine(const std::string& root = "/", const std::string& own_cgroup = "");

struct ShmSpace {
  core::Bytes total = 0;
  core::Bytes free = 0;
};
// /dev/shm, if it is a file system of its own.
[[nodiscard]] std::optional<ShmSpace> shm_space();

struct PlatformSupport {
  bool unified_cgroup = false;             // <root>/sys/fs/cgroup is the one cgroup v2 hierarchy, not a hybrid
  std::vector<std::string> controllers{};  // what is available in `own_cgroup`; empty without unified_cgroup
  bool psi = false;                        // /proc/pressure exists and is not switched off (psi=0)
};
// `own_cgroup` is below the hierarchy's root: "" for a system daemon, /user.slice/… for one under systemd --user.
[[nodiscard]] PlatformSupport read_platform(const std::string& root, const std::string& own_cgroup);

}  // namespace mljobd::kernel
