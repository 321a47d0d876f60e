// Whether a window of troughs shows growth that can be expected to go on. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/trend.hpp"

namespace mljobd::core {

struct GrowthRules {
  std::size_t least_points = 0;  // fewer say nothing
  std::size_t least_risen = 0;   // growth that began within the last ones is too young
  double most_at_once = 1;       // a sixth of the window may bring this part of the rise: a step brings all
  double p_value = 0.01;
  double height = 0;  // growth is what goes beyond: up to there it has come down by itself before
};

struct GrowthVerdict {
  bool rising = false;    // significantly, evenly, to new heights, and not slowing down
  bool going_on = false;  // likewise, but it may have slowed down to half
  bool lasting = false;   // and its last third rises at least half as fast as the first
  Trend trend{};
  double rise = 0;  // along the trend, from where it began in the window

  bool operator==(const GrowthVerdict&) const = default;
};

// Empty where there are too few points.
[[nodiscard]] std::optional<GrowthVerdict> judge_growth(std::span<const TrendPoint> points, const GrowthRules& rules);

// What is claimed about a job does not follow every verdict: at its edge they alternate.
class GrowthClaim {
 public:
  // How many verdicts in a row are needed to say that it grows, and to take that back.
  GrowthClaim(int to_claim, int to_withdraw) : to_claim_(to_claim), to_withdraw_(to_withdraw) {}

  void hear(const GrowthVerdict& verdict);
  void withdraw();

  [[nodiscard]] bool known() const { return latest_.has_value(); }
  [[nodiscard]] bool growing() const { return growing_; }
  [[nodiscard]] bool lasting() const { return growing_ && lasting_; }
  [[nodiscard]] Trend trend() const { return latest_.value_or(GrowthVerdict{}).trend; }
  // The largest that was seen since it grows: the window may move past the beginning.
  [[nodiscard]] double rise() const { return rise_; }

 private:
  int to_claim_;
  int to_withdraw_;
  int contradictions_ = 0;  // in a row
  bool growing_ = false;
  bool lasting_ = false;
  double rise_ = 0;
  std::optional<GrowthVerdict> latest_{};
};

}  // namespace mljobd::core
