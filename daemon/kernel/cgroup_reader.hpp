// One cgroup, read through its directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/death_cause.hpp"
#include "core/job.hpp"
#include "core/limit_check.hpp"
#include "core/types.hpp"
#include "kernel/cgroup_directory.hpp"

namespace mljobd::kernel {

// The directory stays open: a cgroup that was removed and made again under the same name is another one, and this
// object keeps answering "gone" for it. Open a new one for every attempt.
class Cgroup {
 public:
  // `root`, `path` and errors as open_cgroup() has them.
  [[nodiscard]] static core::Expected<Cgroup> open(const std::string& root, const std::string& path);

  // Its inode, as in CgroupDirectory: whether what is about to be killed is still what was judged.
  [[nodiscard]] std::uint64_t id() const { return directory_.id; }

  // What it uses now, with everything below it. A controller that is not enabled here counts 0; memory_peak is at
  // least memory_current (kernels before 5.19 have no memory.peak). A removed cgroup gives invalid_state.
  [[nodiscard]] core::Expected<core::Usage> usage() const;

  // What the kernel enforces; a field is empty when its controller is not enabled here. cpu_list is what is left of
  // the cgroup's own list by those above it (cpuset.cpus.effective).
  [[nodiscard]] core::EffectiveLimits effective_limits() const;

  // Events of this cgroup and those below it; empty when it is gone or has no memory controller.
  [[nodiscard]] std::optional<core::MemoryEvents> memory_events() const;
  // Events of this cgroup's own limit only.
  [[nodiscard]] std::optional<core::MemoryEvents> memory_events_local() const;
  // core::unlimited for "max"; empty when it is gone or has no memory controller. So is memory_low.
  [[nodiscard]] std::optional<core::Bytes> memory_max() const;
  [[nodiscard]] std::optional<core::Bytes> memory_low() const;

  // Whether a process lives in it or below it; false when it is gone.
  [[nodiscard]] bool populated() const;
  [[nodiscard]] bool frozen() const;  // all processes in it have stopped

  // At most max_processes, and at most max_cgroups directories when recursive: the contents belong to the job.
  [[nodiscard]] std::vector<std::uint32_t> processes(bool recursive) const;

  // SIGKILL to everything in it and below it, frozen or not, and to what is being forked; succeeds when it is gone.
  [[nodiscard]] core::Expected<void> kill_all() const;

  static constexpr std::size_t max_processes = 65536;
  static constexpr std::size_t max_cgroups = 1024;

 private:
  explicit Cgroup(CgroupDirectory directory) : directory_(std::move(directory)) {}

  CgroupDirectory directory_;
};

}  // namespace mljobd::kernel
