// The memory of one cgroup, sampled every second, under pressure ten times a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/memory_sample.hpp"
#include "core/types.hpp"
#include "kernel/cgroup_directory.hpp"
#include "kernel/held_file.hpp"

namespace mljobd::kernel {

// Holds its files open, all of them, for HeldFile's reason: 500 jobs cost 5,000 descriptors and about 24 MiB of the
// kernel's memory, counted against the daemon's unit. Its unit allows for both (LimitNOFILE=, MemoryMin=).
// Being open they stay those of this cgroup: one that is made anew under its name is not mistaken for it.
class CgroupSampler {
 public:
  static constexpr std::size_t descriptors = 10;

  // `root` and `path` as open_cgroup() takes them; its errors, and `storage` where the memory controller is not enabled
  // or the descriptors have run out.
  [[nodiscard]] static core::Expected<CgroupSampler> open(const std::string& root, const std::string& path);

  // Ten reads into a buffer on the stack, and nothing that allocates unless it fails. What this kernel does not tell is
  // 0, empty or unlimited. A removed cgroup gives invalid_state, a memory controller that was taken away `storage`.
  [[nodiscard]] core::Expected<core::CgroupMemory> sample() const;

  // The cgroup's inode, as in CgroupDirectory.
  [[nodiscard]] std::uint64_t id() const { return id_; }

 private:
  explicit CgroupSampler(const CgroupDirectory& directory);

  std::string path_;
  std::uint64_t id_;
  HeldFile current_;
  HeldFile stat_;
  HeldFile swap_;
  HeldFile high_;
  HeldFile max_;
  HeldFile limit_events_;
  HeldFile memory_pressure_;
  HeldFile io_pressure_;
  HeldFile cpu_;
  HeldFile cgroup_events_;
};

}  // namespace mljobd::kernel
