// Processes that a caller names. A pid is only a number that may change hands at any time; a pidfd is the process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace mljobd::kernel {

struct ProcessInfo {
  std::uint32_t pid = 0;
  core::UserId real_uid = 0;
  core::UserId effective_uid = 0;
  std::string command_name{};  // as the kernel escapes it in /proc/PID/status: chosen by the process, never trusted
  std::string cgroup{};        // in the unified hierarchy, from its root: "/user.slice/…"; "" if there is none
};

// invalid_spec: the descriptor is not a pidfd, or its process is in a pid namespace that we cannot see.
// invalid_state: the process has exited and was reaped.
[[nodiscard]] core::Expected<std::uint32_t> pid_of_pidfd(int pidfd);

// invalid_state: there is no such process (any more). invalid_spec: the number is of a thread.
[[nodiscard]] core::Expected<ProcessInfo> read_process(std::uint32_t pid);

// The arguments, at most 4096 of them and 128 KiB in all, the rest cut off; empty for a zombie and a kernel thread.
[[nodiscard]] core::Expected<std::vector<std::string>> read_command_line(std::uint32_t pid);

// read_process of what the pidfd refers to. It had not exited after the last file was read, so the pid meant this
// process and no other all the time. Errors: as of both above, and invalid_state for a zombie.
[[nodiscard]] core::Expected<ProcessInfo> inspect_pidfd(int pidfd);

// The pure parts. `status` is /proc/PID/status, `cgroups` is /proc/PID/cgroup, `arguments` /proc/PID/cmdline.
[[nodiscard]] core::Expected<ProcessInfo> parse_process(std::uint32_t pid, std::string_view status,
                                                        std::string_view cgroups);
// The path of the "0::" line, wherever it stands (hybrid hosts list the version 1 hierarchies first).
[[nodiscard]] std::string parse_unified_cgroup(std::string_view cgroups);
[[nodiscard]] std::vector<std::string> parse_command_line(std::string_view arguments);

}  // namespace mljobd::kernel
