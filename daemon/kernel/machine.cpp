#include "kernel/machine.hpp"

#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "core/format.hpp"
#include "kernel/cgroup_parsers.hpp"
#include "kernel/cpu_topology_reader.hpp"
#include "kernel/files.hpp"
#include "kernel/pressure_parsers.hpp"
#include "kernel/text.hpp"

namespace mljobd::kernel {
namespace {

core::Expected<void> read_memory(int root, Machine& machine) {
  const auto text = read_file_at(root, "proc/meminfo");
  if (!text) return tl::unexpected<core::Error>(text.error());
  const auto memory = parse_meminfo(*text);
  if (!memory) {
    return core::failure(core::ErrorCode::storage, "/proc/meminfo does not tell MemTotal and MemAvailable");
  }
  machine.total_memory = memory->total;
  machine.available_memory = memory->available;
  machine.swap_total = memory->swap_total;
  return {};
}

}  // namespace

core::Expected<Machine> read_machine(const std::string& root, const std::string& own_cgroup) {
  const auto top = open_directory(AT_FDCWD, root.c_str());
  if (!top) return tl::unexpected<core::Error>(top.error());
  Machine machine;
  if (const auto read = read_memory(top->get(), machine); !read) return tl::unexpected(read.error());
  const auto boot_id = read_file_at(top->get(), "proc/sys/kernel/random/boot_id");
  if (!boot_id) return tl::unexpected<core::Error>(boot_id.error());
  machine.boot_id = trimmed(*boot_id);
  machine.topology = read_cpu_topology(root, own_cgroup);
  return machine;
}

std::optional<ShmSpace> shm_space() {
  struct stat shm{};
  struct stat above{};
  if (::stat("/dev/shm", &shm) != 0 || ::stat("/dev", &above) != 0 || shm.st_dev == above.st_dev) return std::nullopt;
  struct statvfs space{};
  // A tmpfs that was mounted without a bound says 0 blocks.
  if (::statvfs("/dev/shm", &space) != 0 || space.f_blocks == 0) return std::nullopt;
  return ShmSpace{.total = space.f_blocks * space.f_frsize, .free = space.f_bavail * space.f_frsize};
}

PlatformSupport read_platform(const std::string& root, const std::string& own_cgroup) {
  PlatformSupport support;
  const auto top = open_directory(AT_FDCWD, root.c_str());
  if (!top) return support;
  // With psi=0 on the kernel's command line the file opens, or not, but never reads (EOPNOTSUPP).
  support.psi = read_file_at(top->get(), "proc/pressure/memory").has_value();
  // On a hybrid host this directory is a tmpfs, and the version 2 hierarchy is in "unified" below it, without
  // controllers.
  support.unified_cgroup = read_file_at(top->get(), "sys/fs/cgroup/cgroup.controllers").has_value();
  if (!support.unified_cgroup) return support;
  const std::string own = "sys/fs/cgroup/" + own_cgroup + "/cgroup.controllers";
  const std::string names = read_file_at(top->get(), own.c_str()).value_or(std::string());
  std::string_view rest = trimmed(names);
  while (!rest.empty()) support.controllers.emplace_back(take_until(rest, ' '));
  return support;
}

}  // namespace mljobd::kernel
