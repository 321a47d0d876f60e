#include "kernel/machine_sampler.hpp"

#include <array>

#include <fcntl.h>

#include "kernel/files.hpp"
#include "kernel/pressure_parsers.hpp"

namespace mljobd::kernel {
namespace {

// /proc/vmstat of Linux 6.1 takes about 4 KiB, of 6.18 about 6.
constexpr std::size_t buffer_size = 16384;

}  // namespace

MachineSampler::MachineSampler(int root)
    : meminfo_(root, "proc/meminfo"), vmstat_(root, "proc/vmstat"), pressure_(root, "proc/pressure/memory") {}

core::Expected<MachineSampler> MachineSampler::open(const std::string& root) {
  const auto top = open_directory(AT_FDCWD, root.c_str());
  if (!top) return tl::unexpected<core::Error>(top.error());
  MachineSampler sampler(top->get());
  if (const auto first = sampler.sample(); !first) return tl::unexpected(first.error());
  return sampler;
}

core::Expected<core::MachineMemory> MachineSampler::sample() const {
  std::array<char, buffer_size> buffer;
  const HeldText meminfo = meminfo_.read_piece(buffer);
  if (meminfo.error != 0) {
    return tl::unexpected<core::Error>(file_failure("read", "/proc/meminfo", meminfo.error).value());
  }
  const auto memory = parse_meminfo(meminfo.text);
  if (!memory) {
    return core::failure(core::ErrorCode::storage, "/proc/meminfo does not tell MemTotal and MemAvailable");
  }
  const ReclaimCounters reclaim = parse_vmstat(vmstat_.read_all(buffer).text);
  return core::MachineMemory{.total = memory->total,
                             .available = memory->available,
                             .swap_total = memory->swap_total,
                             .swap_free = memory->swap_free,
                             .scanned_pages = reclaim.scanned_pages,
                             .refaulted_anon_pages = reclaim.refaulted_anon_pages,
                             .refaulted_file_pages = reclaim.refaulted_file_pages,
                             .memory_stalls = parse_stall_totals(pressure_.read_piece(buffer).text)};
}

}  // namespace mljobd::kernel
