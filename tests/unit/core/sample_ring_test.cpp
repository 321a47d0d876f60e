#include "core/sample_ring.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <catch2/catch.hpp>

using namespace mljobd::core;
using std::chrono::hours;
using std::chrono::seconds;

namespace {

std::set<SampleNumber> kept(SampleNumber newest) {
  std::set<SampleNumber> numbers;
  for (const auto& stretch : stretches(newest)) {
    const auto first = (stretch.first + stretch.step - 1) / stretch.step * stretch.step;
    for (auto number = first; number <= stretch.last; number += stretch.step) numbers.insert(number);
  }
  return numbers;
}

SampleNumber newest_after(hours time) { return static_cast<SampleNumber>(time / sample_spacing) - 1; }

}  // namespace

TEST_CASE("the first two hours are kept whole") {
  CHECK(stretches(0) == std::vector<Stretch>{{0, 0, 1}});
  CHECK(stretches(newest_after(hours(2))) == std::vector<Stretch>{{0, 719, 1}});
  CHECK(stretches(720) == std::vector<Stretch>{{361, 720, 1}, {0, 360, 2}});
}

TEST_CASE("of a night the end is kept whole, and its beginning every 160 s") {
  const auto past = stretches(newest_after(hours(10)));
  CHECK(past.front() == Stretch{3456, 3599, 1});
  CHECK(past.back() == Stretch{0, 1439, 16});
  CHECK(kept(newest_after(hours(10))).size() == 666);
}

TEST_CASE("what is thinned out stays within the bound, from the first sample to the newest, and is never missed") {
  std::mt19937 random(20261201);  // NOLINT(cert-msc51-cpp,cert-msc32-c): the same tries each time
  // A minute of samples at a time, as they are written, and now and then a longer pause in the writing.
  std::set<SampleNumber> rows;
  SampleNumber newest = 0;
  rows.insert(newest);
  while (newest < newest_after(hours(24 * 8))) {
    const auto batch = std::uniform_int_distribution<SampleNumber>(1, 40)(random);
    for (SampleNumber i = 0; i < batch; ++i) rows.insert(++newest);
    const auto past = stretches(newest);
    std::erase_if(rows, [&](SampleNumber number) { return !is_kept(number, past); });
    if (rows == kept(newest) && rows.size() <= maximum_samples && *rows.begin() == 0 && *rows.rbegin() == newest) {
      continue;
    }
    CAPTURE(newest, rows.size(), *rows.begin(), *rows.rbegin());
    FAIL("a sample is missing, or there are too many");
  }
  // Looked at from its end, no gap in the past is longer than a thirtieth of the time since.
  SampleNumber later = newest;
  for (auto number = rows.rbegin(); number != rows.rend(); ++number) {
    CHECK(later - *number <= std::max<SampleNumber>(1, (newest - *number) / 30));
    later = *number;
  }
}

TEST_CASE("the stretches of any past follow each other without a gap, each with twice the step") {
  std::mt19937_64 random(4);  // NOLINT(cert-msc51-cpp,cert-msc32-c): the same tries each time
  for (int tries = 0; tries < 2000; ++tries) {
    const auto newest = std::uniform_int_distribution<SampleNumber>(0, SampleNumber{1} << (tries % 40))(random);
    CAPTURE(newest);
    const auto past = stretches(newest);
    REQUIRE(past.front().last == newest);
    REQUIRE(past.back().first == 0);
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < past.size(); ++i) {
      REQUIRE(past[i].first <= past[i].last);
      REQUIRE(past[i].step == SampleNumber{1} << i);
      if (i > 0) REQUIRE(past[i].last + 1 == past[i - 1].first);
      rows += past[i].last / past[i].step - (past[i].first == 0 ? 0 : (past[i].first - 1) / past[i].step) +
              (past[i].first == 0 ? 1 : 0);
    }
    REQUIRE(rows <= maximum_samples);
  }
}

TEST_CASE("a sample is what the job's slice says at that moment") {
  const CgroupMemory memory{.current = 100,
                            .anon = 50,
                            .file = 40,
                            .shmem = 7,
                            .swap = 9,
                            .cpu_time = seconds(3),
                            .memory_stalls = StallTotals{.some = seconds(2), .full = seconds(1)}};
  const auto sample = sample_of(RealTime(seconds(11)), 2, memory);
  CHECK(sample == JobSample{.time = RealTime(seconds(11)),
                            .attempt = 2,
                            .memory_current = 100,
                            .memory_anon_shmem = 57,
                            .swap_current = 9,
                            .cpu_time = seconds(3),
                            .memory_stalls = StallTotals{.some = seconds(2), .full = seconds(1)}});
}

TEST_CASE("columns have one length, and those that the kernel never told are missing") {
  const JobSample first{.time = RealTime(seconds(1)), .attempt = 1, .memory_current = 5};
  JobSample second = first;
  second.memory_stalls = StallTotals{.some = seconds(2), .full = seconds(1)};
  using Column = std::vector<std::uint64_t>;
  const auto columns = to_columns(std::vector{first, second});
  CHECK(columns.at("time") == Column{1'000'000, 1'000'000});
  CHECK(columns.at("attempt") == Column{1, 1});
  CHECK(columns.at("memory_current") == Column{5, 5});
  CHECK(columns.at("memory_waiting") == Column{0, 2'000'000});
  CHECK(columns.at("memory_stalled") == Column{0, 1'000'000});
  CHECK_FALSE(columns.contains("io_waiting"));
  CHECK(to_columns({}).at("time").empty());
}
