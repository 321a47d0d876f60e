// What one window of troughs shows, and what is claimed after several.
#include "core/growth_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include <catch2/catch.hpp>

namespace mljobd::core {
namespace {

constexpr GrowthRules rules{.least_points = 16, .least_risen = 14, .most_at_once = 0.45};

std::vector<TrendPoint> window(const std::function<double(double time)>& value, int count = 26) {
  std::vector<TrendPoint> points;
  points.reserve(static_cast<std::size_t>(count));
  for (int time = 0; time < count; ++time) {
    points.push_back({.time = static_cast<double>(time), .value = value(static_cast<double>(time))});
  }
  return points;
}

GrowthVerdict judged(const std::vector<TrendPoint>& points, const GrowthRules& by = rules) {
  const auto verdict = judge_growth(points, by);
  REQUIRE(verdict);
  return *verdict;
}

constexpr auto even = [](double time) { return 100 + 2 * time; };

TEST_CASE("an even rise is growth that lasts") {
  const auto verdict = judged(window(even));
  CHECK(verdict.rising);
  CHECK(verdict.going_on);
  CHECK(verdict.lasting);
  CHECK(verdict.trend.slope == Approx(2));
  CHECK(verdict.rise == Approx(2 * 23).margin(4));  // from where it left the level at which it began
}

TEST_CASE("too few points say nothing") {
  CHECK_FALSE(judge_growth({}, rules));
  CHECK_FALSE(judge_growth(window(even, 15), rules));
  CHECK(judge_growth(window(even, 16), rules));
}

TEST_CASE("a step is no growth, nor is what began a moment ago") {
  CHECK_FALSE(judged(window([](double time) { return time < 8 ? 100 : 150 + time / 100; })).going_on);
  CHECK_FALSE(judged(window([](double time) { return 100 + 4 * std::max(time - 15, 0.0); })).going_on);
}

TEST_CASE("what was held before is not grown to") {
  GrowthRules before = rules;
  before.height = 200;
  CHECK_FALSE(judged(window(even), before).going_on);
}

TEST_CASE("what slows down is not claimed, and given up when it is half as fast") {
  const auto slowing = judged(window([](double time) { return 100 + 2 * time - time * time / 45; }));
  CHECK_FALSE(slowing.rising);
  const auto full = judged(window([](double time) { return 100 + 20 * (1 - std::exp(-time / 5)); }));
  CHECK_FALSE(full.going_on);
}

TEST_CASE("a slow tooth that has just fallen back is no growth") {
  auto points = window(even);
  points.back().value = 108;
  const auto verdict = judged(points);
  CHECK_FALSE(verdict.rising);
  CHECK(verdict.going_on);  // of growth that is known one low point takes nothing back
}

TEST_CASE("a claim needs agreement, and as much to be taken back") {
  const GrowthVerdict rising{.rising = true, .going_on = true, .lasting = true, .rise = 30};
  const GrowthVerdict slower{.going_on = true, .rise = 20};
  const GrowthVerdict none{};
  GrowthClaim claim(2, 3);
  CHECK_FALSE(claim.known());
  claim.hear(rising);
  CHECK(claim.known());
  CHECK_FALSE(claim.growing());
  claim.hear(none);
  claim.hear(rising);
  CHECK_FALSE(claim.growing());
  claim.hear(rising);
  CHECK(claim.growing());
  CHECK(claim.lasting());
  CHECK(claim.rise() == 30);
  for (int i = 0; i < 10; ++i) claim.hear(slower);
  CHECK(claim.growing());
  CHECK(claim.rise() == 30);
  claim.hear(none);
  claim.hear(none);
  claim.hear(slower);
  CHECK(claim.growing());
  for (int i = 0; i < 3; ++i) claim.hear(none);
  CHECK_FALSE(claim.growing());
  CHECK_FALSE(claim.lasting());
  claim.hear(rising);
  claim.hear(rising);
  CHECK(claim.growing());
  claim.withdraw();
  CHECK_FALSE(claim.growing());
  CHECK_FALSE(claim.known());
}

}  // namespace
}  // namespace mljobd::core
