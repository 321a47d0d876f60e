// Which device holds a directory, and whether it has to move a head to read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/storage.hpp"

namespace mljobd::kernel {

// A line of /proc/PID/mountinfo (proc(5)), as far as it matters here.
struct Mount {
  std::string device{};  // "MAJOR:MINOR" of the file system; major 0 for one that has no block device of its own
  std::string type{};    // "ext4"
  std::string source{};  // "/dev/sda2", or whatever the file system or its user calls it

  bool operator==(const Mount&) const = default;
};

// The mount that an absolute path is on, by the names alone: neither the path nor anything on it is touched, because
// it is a caller's, who may not be able to read it, or may have mounted something there that never answers.
// Empty for a path that is not absolute or has ".." in it. Symbolic links are not followed.
[[nodiscard]] std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view path);

// Reads <root>/proc/1/mountinfo, because the daemon's own sandbox hides /home, and <root>/sys: dev/block, class/block
// and queue/rotational. Partitions and the parts of a device-mapper or RAID volume are followed.
[[nodiscard]] core::Storage storage_of(const std::string& path, const std::string& root = "/");

}  // namespace mljobd::kernel
