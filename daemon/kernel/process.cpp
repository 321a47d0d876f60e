#include "kernel/process.hpp"

#include <limits>
#include <optional>

#include <fcntl.h>
#include <poll.h>

#include "kernel/cgroup_parsers.hpp"
#include "kernel/files.hpp"
#include "kernel/text.hpp"

namespace mljobd::kernel {
namespace {

constexpr std::size_t arguments_limit = 4096;
constexpr std::size_t command_line_limit = std::size_t{128} * 1024;

core::Error no_such_process(std::uint32_t pid) {
  return {core::ErrorCode::invalid_state, "process " + std::to_string(pid) + " does not exist (any more)"};
}

core::Error exited() { return {core::ErrorCode::invalid_state, "the process has exited already"}; }

std::optional<std::uint32_t> parse_id(std::string_view text) {
  const auto value = parse_number(text);
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

// The rest of the first line that begins with `key` and a colon.
std::optional<std::string_view> field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.size() <= key.size() || line[key.size()] != ':') continue;
    if (take_until(line, ':') == key) return trimmed(line);
  }
  return std::nullopt;
}

core::Expected<std::string> read_own_file(std::uint32_t pid, const char* name, std::size_t limit) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  auto text = read_start_of_file_at(AT_FDCWD, path.c_str(), limit);
  if (text) return std::move(*text);
  if (text.error().is_gone()) return tl::unexpected(no_such_process(pid));
  return tl::unexpected<core::Error>(text.error());
}

}  // namespace

std::string parse_unified_cgroup(std::string_view cgroups) {
  while (!cgroups.empty()) {
    std::string_view line = take_until(cgroups, '\n');
    constexpr std::string_view unified = "0::";
    if (!line.starts_with(unified)) continue;
    line.remove_prefix(unified.size());
    return std::string(line);
  }
  return {};
}

core::Expected<ProcessInfo> parse_process(std::uint32_t pid, std::string_view status, std::string_view cgroups) {
  const auto name = field(status, "Name");
  const auto group = parse_id(field(status, "Tgid").value_or(std::string_view{}));
  std::string_view uids = field(status, "Uid").value_or(std::string_view{});  // real, effective, saved, file system
  const auto real = parse_id(take_until(uids, '\t'));
  const auto effective = parse_id(take_until(uids, '\t'));
  if (!name || !group || !real || !effective) {
    return core::failure(core::ErrorCode::invalid_state,
                         "/proc/" + std::to_string(pid) + "/status does not tell whose process it is");
  }
  if (*group != pid) {
    return core::failure(core::ErrorCode::invalid_spec, std::to_string(pid) + " is a thread of process " +
                                                            std::to_string(*group) + ": name the process");
  }
  return ProcessInfo{.pid = pid,
                     .real_uid = *real,
                     .effective_uid = *effective,
                     .command_name = std::string(*name),
                     .cgroup = parse_unified_cgroup(cgroups)};
}

std::vector<std::string> parse_command_line(std::string_view arguments) {
  std::vector<std::string> command;
  while (!arguments.empty() && command.size() < arguments_limit) command.emplace_back(take_until(arguments, '\0'));
  return command;
}

core::Expected<std::uint32_t> pid_of_pidfd(int pidfd) {
  // Only a pidfd has this line in its fdinfo, and no other kind lets a user write there.
  const std::string path = "/proc/self/fdinfo/" + std::to_string(pidfd);
  const auto text = read_file_at(AT_FDCWD, path.c_str());
  const auto pid = text ? field(*text, "Pid") : std::nullopt;
  if (!pid) return core::failure(core::ErrorCode::invalid_spec, "the file descriptor does not refer to a process");
  if (*pid == "-1") return tl::unexpected(exited());
  const auto number = parse_id(*pid);
  if (!number || *number == 0) {
    return core::failure(core::ErrorCode::invalid_spec, "the process is in a pid namespace that mljobd cannot see");
  }
  return *number;
}

core::Expected<ProcessInfo> read_process(std::uint32_t pid) {
  const auto status = read_own_file(pid, "status", default_read_limit);
  if (!status) return tl::unexpected(status.error());
  const auto cgroups = read_own_file(pid, "cgroup", default_read_limit);
  if (!cgroups) return tl::unexpected(cgroups.error());
  return parse_process(pid, *status, *cgroups);
}

core::Expected<std::vector<std::string>> read_command_line(std::uint32_t pid) {
  return read_own_file(pid, "cmdline", command_line_limit).map(parse_command_line);
}

core::Expected<ProcessInfo> inspect_pidfd(int pidfd) {
  const auto pid = pid_of_pidfd(pidfd);
  if (!pid) return tl::unexpected(pid.error());
  auto process = read_process(*pid);
  // Readable means exited. The number is not given to another process before this one was waited for, which comes
  // after; hence what was read, or failed to be read, is of this process if it still runs.
  pollfd exit{.fd = pidfd, .events = POLLIN, .revents = 0};
  if (::poll(&exit, 1, 0) != 0) return tl::unexpected(exited());
  return process;
}

}  // namespace mljobd::kernel
