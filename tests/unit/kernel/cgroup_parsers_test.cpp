#include "kernel/cgroup_parsers.hpp"

#include <catch2/catch.hpp>

namespace mljobd::kernel {
namespace {

TEST_CASE("flat keyed files give their numbers and skip what is none") {
  const auto values =
      parse_flat_keyed("low 0\noom_kill 12\nfree_text abc\nnovalue\n\n two 2 3\nlast 18446744073709551615");
  CHECK(values.size() == 3);
  CHECK(value_of(values, "oom_kill") == 12);
  CHECK(value_of(values, "last") == core::unlimited);
  CHECK(value_of(values, "missing") == 0);
}

TEST_CASE("a number is the whole text or none") {
  CHECK(parse_number("943718400\n") == 943718400U);
  CHECK(parse_number("0") == 0U);
  CHECK_FALSE(parse_number(""));
  CHECK_FALSE(parse_number("\n"));
  CHECK_FALSE(parse_number("-1"));
  CHECK_FALSE(parse_number("12 13"));
  CHECK_FALSE(parse_number("18446744073709551616"));
}

TEST_CASE("max is no limit") {
  CHECK(parse_limit("max\n") == core::unlimited);
  CHECK(parse_limit("1073741824\n") == 1073741824U);
  CHECK(parse_limit("0\n") == 0U);
  CHECK_FALSE(parse_limit("maximum\n"));
  CHECK_FALSE(parse_limit(""));
}

TEST_CASE("a CPU quota is told in percent of one CPU") {
  CHECK(parse_cpu_max("150000 100000\n") == 150U);
  CHECK(parse_cpu_max("50000 100000\n") == 50U);
  CHECK(parse_cpu_max("max 100000\n") == core::unlimited_quota);
  CHECK(parse_cpu_max("1000 1000000\n") == 0U);
  CHECK(parse_cpu_max("333333 1000000\n") == 33U);
  CHECK(parse_cpu_max("335000 1000000\n") == 34U);  // the nearest
  CHECK_FALSE(parse_cpu_max("100000\n"));
  CHECK_FALSE(parse_cpu_max("100000 0\n"));
  CHECK_FALSE(parse_cpu_max("18446744073709551615 1\n"));
  CHECK_FALSE(parse_cpu_max(""));
}

TEST_CASE("the weight of the cgroup is found among those of its devices") {
  CHECK(parse_weight("700\n") == 700U);
  CHECK(parse_weight("default 300\n8:0 50\n") == 300U);
  CHECK(parse_weight("8:0 50\ndefault 300\n") == 300U);
  CHECK_FALSE(parse_weight("8:0 50\n"));
  CHECK_FALSE(parse_weight(""));
}

TEST_CASE("a CPU list is taken as the kernel wrote it") {
  CHECK(parse_cpu_list("0-3,8\n") == "0-3,8");
  CHECK(parse_cpu_list("\n").empty());
}

TEST_CASE("bytes read and written are summed over the devices") {
  CHECK(parse_io_stat("259:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=9 dios=0\n8:0 rbytes=1 wbytes=2\n7:0 \n") ==
        IoTotals{.read = 4097, .written = 8194});
  CHECK(parse_io_stat("") == IoTotals{});
  CHECK(parse_io_stat("8:0 rbytes=x wbytes\n") == IoTotals{});
}

TEST_CASE("memory events that an older kernel does not count are zero") {
  CHECK(parse_memory_events("low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n") ==
        core::MemoryEvents{.max = 3, .oom = 4, .oom_kill = 5, .oom_group_kill = 6});
  CHECK(parse_memory_events("max 3\noom 4\noom_kill 5\n") == core::MemoryEvents{.max = 3, .oom = 4, .oom_kill = 5});
}

TEST_CASE("half a pid at the end of a cut off list is nobody") {
  CHECK(parse_processes("1\n23\n456") == std::vector<std::uint32_t>{1, 23});
  CHECK(parse_processes("0\n7\n") == std::vector<std::uint32_t>{7});  // 0: of another pid namespace
  CHECK(parse_processes("4194304\n4194305\n99999999999\n") == std::vector<std::uint32_t>{4194304});
  CHECK(parse_processes("").empty());
}

}  // namespace
}  // namespace mljobd::kernel
