// Whether a short series rises, and how fast, by statistics that a few outliers do not move. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace mljobd::core {

inline constexpr std::size_t most_trend_points = 32;  // 496 pairs: what one look may cost

struct TrendPoint {
  double time = 0;  // in any unit; slopes are by this unit
  double value = 0;
};

struct Trend {
  double slope = 0;     // Theil–Sen: the median of the slopes of all pairs
  double lowest = 0;    // Sen's interval: the slope is in it with 90 % confidence
  double highest = 0;   // where the points are independent of each other
  double p_value = 1;   // Mann–Kendall, two-sided, corrected for ties: how likely chance alone orders them like this
  bool rising = false;  // more pairs rise than fall

  bool operator==(const Trend&) const = default;
};

// Pairs of the same time count for nothing. Empty for fewer than three points, or where all have the same time.
// Of more than most_trend_points the last ones are looked at.
[[nodiscard]] std::optional<Trend> trend_of(std::span<const TrendPoint> points);

// Theil–Sen alone; 0 where trend_of would be empty for want of times that differ.
[[nodiscard]] double slope_of(std::span<const TrendPoint> points);

// How far a value is from the others' median, in their typical deviation from it, made comparable with standard
// deviations (Iglewicz and Hoaglin: above 3.5 is an outlier). The deviation, of the median, counts at least as
// least_deviation, which is above 0. The others are put in another order.
[[nodiscard]] double modified_z(std::span<double> others, double value, double least_deviation);

// Of the values, which are put in another order; 0 for none.
[[nodiscard]] double median_of(std::span<double> values);

}  // namespace mljobd::core
