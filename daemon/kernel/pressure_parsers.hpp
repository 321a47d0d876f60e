// The files that tell how short memory is: PSI, /proc/meminfo, /proc/vmstat, and the memory controller's own.
// Read every second for every job, hence without an allocation. Pure: text in, value out; junk gives "not told".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/memory_sample.hpp"
#include "core/types.hpp"

namespace mljobd::kernel {

// memory.pressure, io.pressure, cpu.pressure, /proc/pressure/* (Documentation/accounting/psi.rst). Empty without a
// "some" line; "full" is 0 where it is not told (cpu.pressure before Linux 5.13).
[[nodiscard]] std::optional<core::StallTotals> parse_stall_totals(std::string_view text);

struct MemoryInfo {
  core::Bytes total = 0;      // MemTotal
  core::Bytes available = 0;  // MemAvailable
  core::Bytes swap_total = 0;
  core::Bytes swap_free = 0;

  bool operator==(const MemoryInfo&) const = default;
};
// /proc/meminfo. Empty without MemTotal and MemAvailable; a machine without swap has 0 of it.
[[nodiscard]] std::optional<MemoryInfo> parse_meminfo(std::string_view text);

// Since boot. Counters that this kernel does not have are 0.
struct ReclaimCounters {
  // pgscan_kswapd + pgscan_direct: reclaim because the machine is short. What a cgroup's own limit, or memory.reclaim,
  // makes the kernel look at is counted in that cgroup's memory.stat only.
  std::uint64_t scanned_pages = 0;
  std::uint64_t refaulted_anon_pages = 0;
  std::uint64_t refaulted_file_pages = 0;

  bool operator==(const ReclaimCounters&) const = default;
};
// /proc/vmstat.
[[nodiscard]] ReclaimCounters parse_vmstat(std::string_view text);

struct MemoryStat {
  core::Bytes anon = 0;
  core::Bytes file = 0;  // page cache, shmem included
  core::Bytes shmem = 0;
  // Linux 6.1 has no one number for it: kernel_stack + pagetables + sec_pagetables + percpu + sock + vmalloc +
  // slab_unreclaimable. Of "kernel" that is what reclaim cannot free, and the sockets' buffers, which it leaves out.
  core::Bytes unreclaimable_kernel = 0;
  // pgscan; memory.reclaim raises it too, so it tells nothing of a job that is being parked.
  std::uint64_t scanned_pages = 0;
  std::uint64_t refaulted_anon_pages = 0;
  std::uint64_t refaulted_file_pages = 0;

  bool operator==(const MemoryStat&) const = default;
};
// memory.stat. Keys that this kernel does not have are 0.
[[nodiscard]] MemoryStat parse_memory_stat(std::string_view text);

struct LimitEvents {
  std::uint64_t high = 0;
  std::uint64_t oom_kill = 0;

  bool operator==(const LimitEvents&) const = default;
};
// memory.events.
[[nodiscard]] LimitEvents parse_limit_events(std::string_view text);

// cgroup.events.
[[nodiscard]] bool parse_populated(std::string_view text);

// cpu.stat: usage_usec, 0 when it is not told.
[[nodiscard]] core::Microseconds parse_cpu_time(std::string_view text);

}  // namespace mljobd::kernel
