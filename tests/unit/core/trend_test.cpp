// The statistics behind growth, against values that were calculated independently.
#include "core/trend.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace mljobd::core {
namespace {

std::vector<TrendPoint> points(const std::vector<double>& times, const std::vector<double>& values) {
  std::vector<TrendPoint> made;
  made.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) made.push_back({.time = times[i], .value = values[i]});
  return made;
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> times;
  times.reserve(count);
  for (std::size_t i = 0; i < count; ++i) times.push_back(static_cast<double>(i));
  return times;
}

// The interval by SciPy's rule for theilslopes, the probability by the normal approximation with the correction for
// ties that Gilbert (1987) gives.
TEST_CASE("slope, interval and probability are those of the textbook") {
  struct Case {
    std::string name{};
    std::vector<double> times{};
    std::vector<double> values{};
    Trend expected{};
  };
  const std::vector<Case> cases{
      {"a line", counted(10), {1, 3, 5, 7, 9, 11, 13, 15, 17, 19}, {2, 2, 2, 8.303070332644999e-05, true}},
      {"the digits of pi", counted(10), {3, 1, 4, 1, 5, 9, 2, 6, 5, 8}, {0.5, 0, 1.2, 0.07133494897796916, true}},
      {"ties", counted(8), {1, 1, 2, 2, 2, 3, 3, 5}, {0.45, 1.0 / 3, 0.6, 0.0043979689615242686, true}},
      {"uneven times",
       {0, 1, 4, 5, 9, 12, 13, 20},
       {10, 12, 11, 15, 18, 17, 22, 25},
       {0.75, 7.0 / 12, 1, 0.00443400830310066, true}},
      {"falling", counted(6), {9, 8, 8, 5, 4, 1}, {-1.5, -7.0 / 3, -1, 0.01289887393508169, false}},
      {"all alike", counted(6), {4, 4, 4, 4, 4, 4}, {0, 0, 0, 1, false}},
  };
  for (const auto& known : cases) {
    INFO(known.name);
    const auto trend = trend_of(points(known.times, known.values));
    REQUIRE(trend);
    CHECK(trend->slope == Approx(known.expected.slope));
    CHECK(trend->lowest == Approx(known.expected.lowest));
    CHECK(trend->highest == Approx(known.expected.highest));
    CHECK(trend->p_value == Approx(known.expected.p_value));
    CHECK(trend->rising == known.expected.rising);
    CHECK(slope_of(points(known.times, known.values)) == Approx(known.expected.slope));
  }
}

TEST_CASE("a quarter of outliers does not move the slope") {
  std::vector<double> values(30);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 4 == 0 ? 1e6 : 100 + 3.0 * static_cast<double>(i);
  CHECK(trend_of(points(counted(30), values))->slope == Approx(3).epsilon(0.1));
}

TEST_CASE("too little to say anything is said as that") {
  CHECK_FALSE(trend_of({}));
  CHECK_FALSE(trend_of(points({0, 1}, {5, 6})));
  CHECK_FALSE(trend_of(points({7, 7, 7, 7}, {1, 2, 3, 4})));
  CHECK(slope_of({}) == 0);
  CHECK(slope_of(points({7, 7, 7}, {1, 2, 3})) == 0);
}

TEST_CASE("pairs of the same time count for nothing") {
  const auto trend = trend_of(points({0, 0, 1, 2, 2, 3}, {10, 30, 20, 30, 30, 40}));
  REQUIRE(trend);
  CHECK(trend->slope == Approx(10));
}

TEST_CASE("of many points the last ones are looked at") {
  std::vector<double> values(200, 0.0);
  for (std::size_t i = 0; i < most_trend_points; ++i) values[200 - most_trend_points + i] = 5 * static_cast<double>(i);
  CHECK(trend_of(points(counted(200), values))->slope == Approx(5));
}

TEST_CASE("the largest numbers of bytes make a finite slope") {
  constexpr auto most = static_cast<double>(std::numeric_limits<std::uint64_t>::max());
  const auto trend = trend_of(points(counted(4), {0, most, 0, most}));
  REQUIRE(trend);
  CHECK(std::isfinite(trend->slope));
  CHECK(trend->highest == most);
}

TEST_CASE("a median is the middle, or the mean of the two in the middle") {
  std::vector<double> values{9, 1, 5};
  CHECK(median_of(values) == 5);
  values = {9, 1, 5, 7};
  CHECK(median_of(values) == 6);
  CHECK(median_of({}) == 0);
}

TEST_CASE("an outlier is measured in the deviations of the others") {
  std::vector<double> steps{1, 2, 3, 4, 5};  // median 3, deviations 2, 1, 0, 1, 2: their median 1, their mean 1.2
  CHECK(modified_z(steps, 15, 0.1) == Approx(0.6745 * 12 / 1.2));
  steps = {5, 1, 4, 2, 3};
  CHECK(modified_z(steps, 15, 6) == Approx(0.6745 * 12 / 6));
  CHECK(modified_z({}, 6, 2) == Approx(0.6745 * 3));
}

TEST_CASE("stairs do not make an outlier of each stair") {
  std::vector<double> steps{0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0, 100};
  CHECK(modified_z(steps, 100, 1) < 3.5);
}

}  // namespace
}  // namespace mljobd::core
