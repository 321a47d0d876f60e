// The directory of a cgroup, and the sentence for one that is no more.
#pragma once

#include <cstdint>
#include <string>

#include "core/types.hpp"
#include "kernel/unique_fd.hpp"

namespace mljobd::kernel {

struct CgroupDirectory {
  UniqueFd fd{};
  std::string path{};    // below the root, without a leading slash
  std::uint64_t id = 0;  // its inode: the kernel gives each cgroup one that no other has had since boot
};

// `root` is where the unified hierarchy is mounted ("/sys/fs/cgroup"); `path` is below it, with or without a leading
// slash ("mljob.slice/mljob-train.slice"). A path with ".." or an empty one is refused (invalid_spec); one that does
// not exist gives invalid_state.
[[nodiscard]] core::Expected<CgroupDirectory> open_cgroup(const std::string& root, const std::string& path);

// invalid_state.
[[nodiscard]] core::Error cgroup_is_gone(const std::string& path);

}  // namespace mljobd::kernel
