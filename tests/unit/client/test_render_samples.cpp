#include <cstdlib>
#include <ctime>

#include <catch2/catch.hpp>

#include "client/render_samples.hpp"

using namespace mljobd::client;
using mljobd::core::SampleColumns;
using mljobd::core::Value;

namespace {

constexpr std::uint64_t second = 1'000'000;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

SampleColumns three_samples() {
  return {{"time", {10 * second, 20 * second, 40 * second}},
          {"attempt", {1, 1, 2}},
          {"memory_current", {gibibyte, 2 * gibibyte, gibibyte}},
          {"memory_anon_shmem", {gibibyte, gibibyte, gibibyte}},
          {"swap_current", {0, 0, gibibyte / 2}},
          {"cpu_time", {5 * second, 25 * second, second}},
          {"memory_waiting", {0, 5 * second, 0}},
          {"memory_stalled", {0, second, 0}}};
}

}  // namespace

TEST_CASE("samples as a table: sizes, and rates since the sample before") {
  setenv("TZ", "UTC", 1);
  tzset();
  CHECK(*render_samples(three_samples(), 10, {}) ==
        "TIME                ATT  MEM ANON SWAP  CPU MEMWAIT STALL IOWAIT\n"
        "1970-01-01 00:00:10   1 1.0G 1.0G   0B    -       -     -      -\n"
        "1970-01-01 00:00:20   1 2.0G 1.0G   0B 200%     50%   10%      -\n"
        "1970-01-01 00:00:40   2 1.0G 1.0G 512M    -       -     -      -\n");
}

TEST_CASE("the first row of the last ones has its rates too") {
  auto columns = three_samples();
  columns["attempt"] = {1, 1, 1};
  CHECK_THAT(*render_samples(columns, 2, {.legend = false}), Catch::Contains("00:00:20   1 2.0G 1.0G   0B 200%"));
  CHECK_THAT(*render_samples(columns, 2, {.legend = false}), !Catch::Contains("00:00:10"));
}

TEST_CASE("a counter that went back has no rate") {
  auto columns = three_samples();
  columns["attempt"] = {1, 1, 1};
  CHECK_THAT(*render_samples(columns, 1, {.legend = false}), Catch::Contains("512M   -       -     -      -"));
}

TEST_CASE("samples as rows: the last ones, no longer than the shortest column") {
  auto columns = three_samples();
  const auto rows = sample_rows(columns, 2);
  REQUIRE(rows.size() == 2);
  CHECK(rows.front().at("time") == Value(20 * second));
  CHECK(rows.back().at("swap_current") == Value(gibibyte / 2));
  columns["a_newer_column"] = {1};
  CHECK(sample_rows(columns, 10).size() == 1);
  CHECK(sample_rows({}, 10).empty());
}
