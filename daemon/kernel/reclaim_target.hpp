// The cgroup whose memory is moved out to swap: what it holds, and the file that asks the kernel to take some of it.
#pragma once

#include <memory>
#include <string>

#include "core/types.hpp"
#include "kernel/files.hpp"

namespace mljobd::kernel {

struct HeldMemory {
  core::Bytes current = 0;    // memory.current: exact at all times, unlike memory.stat
  core::Bytes swappable = 0;  // anon + shmem: what only swap can take
};

// Used by one thread at a time. Tests have one of their own.
class ReclaimTarget {
 public:
  ReclaimTarget() = default;
  ReclaimTarget(const ReclaimTarget&) = delete;
  ReclaimTarget& operator=(const ReclaimTarget&) = delete;
  virtual ~ReclaimTarget() = default;

  [[nodiscard]] virtual FileExpected<HeldMemory> look() = 0;
  // Blocks while the kernel works on it. 0, or errno: EAGAIN when it took less than was asked for, which may be
  // anything from nothing on; ENODEV when the cgroup is gone.
  [[nodiscard]] virtual int reclaim(core::Bytes amount) = 0;
};

// `root` and `path` as open_cgroup() takes them; its errors, and `storage` where memory cannot be moved out: no memory
// controller, or a kernel without memory.reclaim (before 5.19).
[[nodiscard]] core::Expected<std::unique_ptr<ReclaimTarget>> open_reclaim_target(const std::string& root,
                                                                                 const std::string& path);

}  // namespace mljobd::kernel
