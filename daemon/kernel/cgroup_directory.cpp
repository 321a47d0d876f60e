#include "kernel/cgroup_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "kernel/files.hpp"
#include "kernel/text.hpp"

namespace mljobd::kernel {
namespace {

bool is_safe(std::string_view path) {
  while (!path.empty()) {
    if (take_until(path, '/') == "..") return false;
  }
  return true;
}

}  // namespace

core::Expected<CgroupDirectory> open_cgroup(const std::string& root, const std::string& path) {
  const std::size_t start = std::min(path.find_first_not_of('/'), path.size());
  std::string below = path.substr(start);
  if (below.empty() || !is_safe(below)) {
    return core::failure(core::ErrorCode::invalid_spec, "\"" + path + "\" is not the path of a cgroup below the root");
  }
  const auto top = open_directory(AT_FDCWD, root.c_str());
  if (!top) return tl::unexpected<core::Error>(top.error());
  auto directory = open_directory(top->get(), below.c_str());
  if (!directory && directory.error().is_gone()) return tl::unexpected(cgroup_is_gone(below));
  if (!directory) return tl::unexpected<core::Error>(directory.error());
  struct stat status{};
  if (::fstat(directory->get(), &status) != 0) {
    return tl::unexpected<core::Error>(file_failure("look at", below, errno).value());
  }
  return CgroupDirectory{.fd = std::move(*directory), .path = std::move(below), .id = status.st_ino};
}

core::Error cgroup_is_gone(const std::string& path) {
  return {core::ErrorCode::invalid_state, "the cgroup " + path + " is gone: its job has ended"};
}

}  // namespace mljobd::kernel
