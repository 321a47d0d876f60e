#include "kernel/pressure_parsers.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

using core::Microseconds;
using core::StallTotals;

TEST_CASE("waiting is told by its running total") {
  CHECK(parse_stall_totals("some avg10=0.00 avg60=0.12 avg300=0.05 total=4711\n"
                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n") ==
        StallTotals{.some = Microseconds(4711), .full = Microseconds(17)});
  CHECK(parse_stall_totals("full avg10=0.00 total=17\nsome total=0") ==
        StallTotals{.some = Microseconds(0), .full = Microseconds(17)});
  CHECK(parse_stall_totals("some avg10=0.00 total=5\n") == StallTotals{.some = Microseconds(5)});
  CHECK(parse_stall_totals("some total=9223372036854775807\n")->some == Microseconds::max());
}

TEST_CASE("a pressure file without a total tells nothing") {
  CHECK_FALSE(parse_stall_totals(""));
  CHECK_FALSE(parse_stall_totals("full avg10=0.00 total=17\n"));
  CHECK_FALSE(parse_stall_totals("some avg10=0.00\n"));
  CHECK_FALSE(parse_stall_totals("some total=-1\n"));
  CHECK_FALSE(parse_stall_totals("some total=9223372036854775808\n"));
  CHECK_FALSE(parse_stall_totals("some total=\nsome"));
}

TEST_CASE("the machine's memory is read in bytes") {
  const std::string text = read_text(MLJOBD_FIXTURES "/machine/unified/proc/meminfo");
  constexpr core::Bytes kibibyte = 1024;
  CHECK(parse_meminfo(text) == MemoryInfo{.total = 16303428 * kibibyte,
                                          .available = 12078676 * kibibyte,
                                          .swap_total = 2097148 * kibibyte,
                                          .swap_free = 2097148 * kibibyte});
  CHECK(parse_meminfo("MemTotal: 8 kB\nMemAvailable: 0 kB\n") == MemoryInfo{.total = 8 * kibibyte});
}

TEST_CASE("a meminfo that does not tell what is available is none") {
  CHECK_FALSE(parse_meminfo(""));
  CHECK_FALSE(parse_meminfo("MemTotal: 8 kB\nMemFree: 4 kB\n"));
  CHECK_FALSE(parse_meminfo("MemTotal: 8 kB\nMemAvailable: many kB\n"));
  // Would not fit in 64 bits as bytes: a wrapped number would be a machine of a few kilobytes.
  CHECK_FALSE(parse_meminfo("MemTotal: 18014398509481984 kB\nMemAvailable: 4 kB\n"));
  CHECK(parse_meminfo("MemTotal: 18014398509481983 kB\nMemAvailable: 4 kB\n"));
}

TEST_CASE("the machine's reclaim is summed over who does it, and only once") {
  CHECK(parse_vmstat("nr_free_pages 5\n"
                     "workingset_refault_anon 30\nworkingset_refault_file 40\nworkingset_activate_anon 50\n"
                     "pgscan_kswapd 1000\npgscan_direct 200\npgscan_khugepaged 9\npgscan_direct_throttle 7\n"
                     "pgscan_anon 700\npgscan_file 500\n") ==
        ReclaimCounters{.scanned_pages = 1200, .refaulted_anon_pages = 30, .refaulted_file_pages = 40});
  CHECK(parse_vmstat("") == ReclaimCounters{});
}

TEST_CASE("a job's memory is told apart by what can free it") {
  const std::string text =
      read_text(MLJOBD_FIXTURES "/cgroup/mljob.slice/mljob-train.slice/mljob-train-42.slice/memory.stat");
  CHECK(parse_memory_stat(text) ==
        MemoryStat{
            .anon = 734003200, .file = 157286400, .shmem = 104857600, .unreclaimable_kernel = 262144 + 2097152 + 4096});
  CHECK(parse_memory_stat("kernel 1000\nkernel_stack 1\npagetables 2\nsec_pagetables 4\npercpu 8\nsock 16\nvmalloc 32\n"
                          "slab_reclaimable 500\nslab_unreclaimable 64\nslab 564\n"
                          "workingset_refault_anon 3\nworkingset_refault_file 5\n"
                          "pgscan 70\npgscan_kswapd 30\npgscan_direct 40\n") ==
        MemoryStat{
            .unreclaimable_kernel = 127, .scanned_pages = 70, .refaulted_anon_pages = 3, .refaulted_file_pages = 5});
}

TEST_CASE("events, population and CPU time are found among the other keys") {
  CHECK(parse_limit_events("low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n") ==
        LimitEvents{.high = 2, .oom_kill = 5});
  CHECK(parse_limit_events("") == LimitEvents{});
  CHECK(parse_populated("populated 1\nfrozen 0\n"));
  CHECK_FALSE(parse_populated("populated 0\nfrozen 1\n"));
  CHECK_FALSE(parse_populated("frozen 1\n"));
  CHECK(parse_cpu_time("usage_usec 55\nuser_usec 50\nsystem_usec 5\n") == Microseconds(55));
  CHECK(parse_cpu_time("usage_usec 18446744073709551615\n") == Microseconds::max());
  CHECK(parse_cpu_time("user_usec 50\n") == Microseconds(0));
}

}  // namespace
}  // namespace mljobd::kernel
