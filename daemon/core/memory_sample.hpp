// One look at the memory of the machine and of a cgroup, as the pressure policy and the growth detector judge it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/types.hpp"

namespace mljobd::core {

// PSI's running totals since boot, or since the cgroup was made: how long some of its tasks, or all that could have
// run, stood still. Judged by their growth: the kernel's own averages lag behind.
struct StallTotals {
  Microseconds some{0};
  Microseconds full{0};

  bool operator==(const StallTotals&) const = default;
};

struct MachineMemory {
  Bytes total = 0;      // MemTotal
  Bytes available = 0;  // MemAvailable: what can be had without swapping
  Bytes swap_total = 0;
  Bytes swap_free = 0;
  std::uint64_t scanned_pages = 0;             // looked at by reclaim since boot (pgscan_kswapd + pgscan_direct)
  std::uint64_t refaulted_anon_pages = 0;      // since boot: read back from swap soon after they were pushed out
  std::uint64_t refaulted_file_pages = 0;      // likewise, from files
  std::optional<StallTotals> memory_stalls{};  // empty where the kernel does not tell (psi=0)

  bool operator==(const MachineMemory&) const = default;
};

// Of a cgroup with everything below it.
struct CgroupMemory {
  Bytes current = 0;
  Bytes anon = 0;
  Bytes file = 0;  // page cache, shmem included
  Bytes shmem = 0;
  Bytes swap = 0;
  Bytes unreclaimable_kernel = 0;  // of the kernel for it, beyond what reclaim could free
  Bytes high = unlimited;          // memory.high and memory.max as they are set
  Bytes max = unlimited;
  std::uint64_t high_events = 0;  // how often it was slowed down at memory.high (memory.events)
  std::uint64_t oom_kills = 0;
  std::uint64_t scanned_pages = 0;
  std::uint64_t refaulted_anon_pages = 0;
  std::uint64_t refaulted_file_pages = 0;
  Microseconds cpu_time{0};
  bool populated = false;  // a process lives in it
  std::optional<StallTotals> memory_stalls{};
  std::optional<StallTotals> io_stalls{};

  bool operator==(const CgroupMemory&) const = default;
};

// What it needs: what is freed only by ending it or by moving it out to swap. Page cache is not need.
[[nodiscard]] constexpr Bytes needed_memory(const CgroupMemory& memory) {
  return memory.anon + memory.shmem + memory.swap + memory.unreclaimable_kernel;
}

}  // namespace mljobd::core
