#include "core/format.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>

using namespace mljobd::core;
using namespace std::chrono_literals;

namespace {

constexpr Bytes kibi = 1024;
constexpr Bytes mebi = kibi * 1024;
constexpr Bytes gibi = mebi * 1024;
constexpr Bytes tebi = gibi * 1024;
constexpr Microseconds days(int count) { return std::chrono::hours(24 * count); }

std::string message_of(const auto& result) { return result ? std::string("no error") : result.error().message; }

}  // namespace

TEST_CASE("sizes are written as people say them") {
  struct Row {
    Bytes bytes;
    std::string text;
  };
  const auto row =
      GENERATE(Row{0, "0B"}, Row{1, "1B"}, Row{1023, "1023B"}, Row{1024, "1K"}, Row{1536, "1.5K"}, Row{4096, "4K"},
               Row{512 * mebi, "512M"}, Row{mebi + mebi / 2, "1.5M"}, Row{12 * gibi, "12.0G"},
               Row{gibi + gibi / 2, "1.5G"}, Row{gibi - 1, "1.0G"}, Row{mebi - 1, "1M"}, Row{tebi * 2, "2.0T"},
               Row{1024 * tebi, "1.0P"}, Row{unlimited - 1, "16.0E"}, Row{unlimited, "unlimited"});
  CHECK(format_bytes(row.bytes) == row.text);
}

TEST_CASE("sizes are read") {
  struct Row {
    std::string text;
    Bytes bytes;
  };
  const auto row =
      GENERATE(Row{"0B", 0}, Row{"512B", 512}, Row{"4K", 4 * kibi}, Row{"512M", 512 * mebi}, Row{"512m", 512 * mebi},
               Row{"12G", 12 * gibi}, Row{"1.5G", gibi + gibi / 2}, Row{"2T", 2 * tebi}, Row{"0.1K", 102},
               Row{"16383P", 16383 * 1024 * tebi}, Row{"0.9999999999999999999999999999999G", gibi - 1},
               Row{"unlimited", unlimited}, Row{"infinity", unlimited}, Row{"0000000000000000000001G", gibi});
  const auto parsed = parse_bytes(row.text, std::nullopt);
  INFO(row.text << ": " << message_of(parsed));
  REQUIRE(parsed);
  CHECK(*parsed == row.bytes);
}

TEST_CASE("what is no size is refused") {
  const std::string text = GENERATE("", "G", "-1G", "+1G", " 1G", "1G ", "1 G", "1.G", ".5G", "1..5G", "1,5G", "12GB",
                                    "12GiB", "1e3M", "0x10M", "nan", "NaNG", "inf", "infinityG", "1G2M", "1Z", "%");
  const auto parsed = parse_bytes(text, std::nullopt);
  INFO(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::invalid_spec);
  CHECK_THAT(parsed.error().message, Catch::Contains("is not a size"));
}

TEST_CASE("sizes beyond 64 bits are refused, not wrapped") {
  const std::string text = GENERATE("16E", "16.0E", "16384P", "18446744073709551615B", "18446744073709551616B",
                                    "99999999999999999999999999999999999999T");
  CHECK_THAT(message_of(parse_bytes(text, std::nullopt)), Catch::Contains("larger than any memory"));
}

TEST_CASE("a bare number of bytes is refused with its two readings") {
  CHECK(message_of(parse_bytes("512", std::nullopt)) ==
        "'512' has no unit: write 512M (as Slurm reads it) or 512B (as systemd does)");
  CHECK_THAT(message_of(parse_bytes("1.5", std::nullopt)), Catch::Contains("1.5M"));
}

TEST_CASE("a share of memory needs the memory") {
  CHECK(parse_bytes("50%", 16 * gibi) == 8 * gibi);
  CHECK(parse_bytes("12.5%", 16 * gibi) == 2 * gibi);
  CHECK(parse_bytes("100%", 16 * gibi) == 16 * gibi);
  CHECK(parse_bytes("0%", 16 * gibi) == Bytes{0});
  CHECK_THAT(message_of(parse_bytes("50%", std::nullopt)), Catch::Contains("write a size"));
  CHECK_THAT(message_of(parse_bytes("101%", 16 * gibi)), Catch::Contains("(16.0G)"));
  CHECK_THAT(message_of(parse_bytes("99999999999999%", 16 * gibi)), Catch::Contains("at most 100%"));
}

TEST_CASE("every size that is written can be read back, to a tenth of its unit") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const Bytes bytes = random() >> (random() % 64) >> 1;
    const auto text = format_bytes(bytes);
    const auto parsed = parse_bytes(text, std::nullopt);
    INFO(bytes << " as " << text);
    REQUIRE(parsed);
    const Bytes difference = *parsed > bytes ? *parsed - bytes : bytes - *parsed;
    REQUIRE(difference <= bytes / 20 + 1);
  }
}

TEST_CASE("durations are written with their two largest units") {
  struct Row {
    Microseconds duration;
    std::string text;
  };
  const auto row =
      GENERATE(Row{0s, "0s"}, Row{999us, "0s"}, Row{-5s, "0s"}, Row{500ms, "500ms"}, Row{45s, "45s"}, Row{1999ms, "1s"},
               Row{200s, "3m20s"}, Row{60s, "1m00s"}, Row{2h + 5min + 59s, "2h05m"}, Row{days(1) + 3h + 59min, "1d03h"},
               Row{days(1), "1d00h"}, Row{Microseconds::max(), "106751991d04h"});
  CHECK(format_duration(row.duration) == row.text);
}

TEST_CASE("moments are written so that everybody reads the same one") {
  const auto at = [](std::int64_t second) { return RealTime(std::chrono::seconds(second)); };
  CHECK(format_time({}) == "1970-01-01 00:00:00 UTC");
  CHECK(format_time(at(951'827'696)) == "2000-02-29 12:34:56 UTC");
  CHECK(format_time(at(1'783'825'500) + Microseconds(999'999)) == "2026-07-12 03:05:00 UTC");
  CHECK(format_time(RealTime::max()) == "9999-12-31 23:59:59 UTC");
  CHECK(format_time(RealTime::min()) == "1970-01-01 00:00:00 UTC");
}

TEST_CASE("durations are read") {
  struct Row {
    std::string text;
    Microseconds duration;
  };
  const auto row =
      GENERATE(Row{"90s", 90s}, Row{"0s", 0s}, Row{"30m", 30min}, Row{"30min", 30min}, Row{"2h", 2h},
               Row{"1d", days(1)}, Row{"1w", days(7)}, Row{"500ms", 500ms}, Row{"5us", 5us}, Row{"1h30m", 90min},
               Row{"1.5h", 90min}, Row{"1d2h3m4s", days(1) + 2h + 3min + 4s}, Row{"12:34:56", 12h + 34min + 56s},
               Row{"100:00:00", 100h}, Row{"1-12", days(1) + 12h}, Row{"1-12:30", days(1) + 12h + 30min},
               Row{"2-03:04:05", days(2) + 3h + 4min + 5s}, Row{"0-0:0:1", 1s});
  const auto parsed = parse_duration(row.text);
  INFO(row.text << ": " << message_of(parsed));
  REQUIRE(parsed);
  CHECK(*parsed == row.duration);
}

TEST_CASE("what is no duration is refused") {
  const std::string text =
      GENERATE("", "s", "-5m", "+5m", "5 m", "5x", "5M", "1h30", "30m1h", "5m5m", "1:2:3:4", ":", "::", "1::2",
               "1:60:00", "1:00:60", "1-24", "1-", "-1", "1-2-3", "1-1:2:3:4", "1.5:00:00", "nan", "infs", "1e3s",
               "1000000:00:00", "99999999999999999999-1", "1m.5s", "1 h");
  const auto parsed = parse_duration(text);
  INFO(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::invalid_spec);
  CHECK_THAT(parsed.error().message, Catch::Contains("is not a duration"));
}

TEST_CASE("durations beyond 64 bits are refused, not wrapped") {
  const std::string text = GENERATE("9223372036854775808us", "106751992d", "99999999999999999999999s",
                                    "18446744073709551615w", "106751991d9999999999999s");
  CHECK_THAT(message_of(parse_duration(text)), Catch::Contains("longer than anything"));
  CHECK(parse_duration("9223372036854775807us") == Microseconds::max());
}

TEST_CASE("a duration with two readings is refused with both") {
  CHECK(message_of(parse_duration("30")) == "'30' has no unit: write 30m (as Slurm reads it) or 30s (as systemd does)");
  CHECK(message_of(parse_duration("1:30")) ==
        "'1:30' has two readings: write 1m30s (as Slurm reads it) or 1h30m (as a clock does)");
}

TEST_CASE("CPU lists are read sorted and unique") {
  using Cpus = std::vector<std::uint32_t>;
  CHECK(parse_cpu_list("0") == Cpus{0});
  CHECK(parse_cpu_list("0-3,8") == Cpus{0, 1, 2, 3, 8});
  CHECK(parse_cpu_list("8,0-3,2-4,8") == Cpus{0, 1, 2, 3, 4, 8});
  CHECK(parse_cpu_list("8191") == Cpus{8191});
  CHECK(parse_cpu_list("0-8191")->size() == 8192);

  const std::string text = GENERATE("", ",", "0,", ",0", "0,,1", "3-1", "-1", "1-", "0-3-5", "a", "0 1", "0, 1", "8192",
                                    "0-8192", "0-4294967296", "99999999999999999999", "0x3", "1.5", "+1", "0-3\n");
  const auto parsed = parse_cpu_list(text);
  INFO(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::invalid_spec);
}

TEST_CASE("CPU lists are written as the kernel writes them") {
  CHECK(format_cpu_list({}).empty());
  CHECK(format_cpu_list({5}) == "5");
  CHECK(format_cpu_list({0, 1}) == "0-1");
  CHECK(format_cpu_list({0, 1, 2, 3, 8, 10, 11}) == "0-3,8,10-11");

  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t cpu = 0; cpu <= maximum_cpu; cpu += 1 + static_cast<std::uint32_t>(random() % 300))
      cpus.push_back(cpu);
    REQUIRE(parse_cpu_list(format_cpu_list(cpus)) == cpus);
  }
}
