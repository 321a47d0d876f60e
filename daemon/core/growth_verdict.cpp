#include "core/growth_verdict.hpp"

#include <algorithm>

namespace mljobd::core {
namespace {

using Points = std::span<const TrendPoint>;

// Noise alone reaches some.
constexpr std::size_t least_new_heights = 3;
// The slope of the last half against earlier ones, where noise does not explain it. What fills up with the window's
// length as its time constant keeps 0.6, and steady growth 1.
constexpr double least_kept_pace = 0.75;
// Likewise where both halves are certain of their slopes.
constexpr double least_certain_pace = 0.92;
constexpr double halved_pace = 0.5;

// Without what lay before the growth began: it would hide that the growth is young, and that it slows down.
Points since_onset(Points points) {
  const double begin = points.front().value;
  const double level = begin + (points.back().value - begin) / 10;
  const auto last_low =
      std::find_if(points.rbegin(), points.rend(), [&](const TrendPoint& point) { return point.value <= level; });
  if (last_low == points.rend()) return points;
  return points.last(static_cast<std::size_t>(last_low - points.rbegin()) + 1);
}

bool is_even(Points points, double rise, double most_at_once) {
  const std::size_t reach = std::max<std::size_t>(points.size() / 6, 1);
  double most = 0;
  for (std::size_t i = reach; i < points.size(); ++i) {
    most = std::max(most, points[i].value - points[i - reach].value);
  }
  return most <= rise * most_at_once;
}

std::size_t new_heights(Points points, double height) {
  std::size_t count = 0;
  for (const auto& point : points) {
    if (point.value <= height) continue;
    height = point.value;
    ++count;
  }
  return count;
}

// The statistics do not see one low point at the end, but it is where a slow tooth, of which the rest was one, ends.
bool has_fallen_back(Points points, double rise) { return points.back().value < points.front().value + rise / 2; }

enum class Pace { kept, slower, halved };

Pace pace_of(const Trend& later, const Trend& earlier) {
  if (earlier.slope <= 0 || later.slope >= earlier.lowest) return Pace::kept;
  const double pace = later.slope / earlier.slope;
  if (pace < halved_pace) return Pace::halved;
  const double least = later.highest < earlier.lowest ? least_certain_pace : least_kept_pace;
  return pace < least ? Pace::slower : Pace::kept;
}

// The middle is looked at besides the first half: where the growth began within the window, the first is no measure.
Pace pace_of(Points points) {
  const std::size_t half = points.size() / 2;
  const auto last = trend_of(points.last(half));
  const auto first = trend_of(points.first(half));
  const auto middle = trend_of(points.subspan(points.size() / 4, half));
  if (!last || !first || !middle) return Pace::kept;
  return std::max(pace_of(*last, *first), pace_of(*last, *middle));
}

bool lasts(Points points) {
  const std::size_t third = points.size() / 3;
  return slope_of(points.last(third)) >= halved_pace * slope_of(points.first(third));
}

}  // namespace

std::optional<GrowthVerdict> judge_growth(Points points, const GrowthRules& rules) {
  if (points.empty() || points.size() < rules.least_points) return std::nullopt;
  const auto risen = since_onset(points);
  const bool is_young = risen.size() < rules.least_risen;
  const auto judged = is_young ? points : risen;
  const auto trend = trend_of(judged);
  if (!trend) return std::nullopt;
  GrowthVerdict verdict{.trend = *trend, .rise = trend->slope * (judged.back().time - judged.front().time)};
  const bool grows = !is_young && trend->rising && trend->p_value < rules.p_value &&
                     is_even(judged, verdict.rise, rules.most_at_once) &&
                     new_heights(judged, rules.height) >= least_new_heights;
  const Pace pace = grows ? pace_of(judged) : Pace::halved;
  verdict.rising = pace == Pace::kept && !has_fallen_back(judged, verdict.rise);
  verdict.going_on = pace != Pace::halved;
  verdict.lasting = verdict.rising && lasts(judged);
  return verdict;
}

void GrowthClaim::hear(const GrowthVerdict& verdict) {
  latest_ = verdict;
  const bool agrees = growing_ ? verdict.going_on : !verdict.rising;
  contradictions_ = agrees ? 0 : contradictions_ + 1;
  if (contradictions_ >= (growing_ ? to_withdraw_ : to_claim_)) {
    growing_ = !growing_;
    contradictions_ = 0;
    lasting_ = false;
    rise_ = 0;
  }
  if (!growing_) return;
  lasting_ = lasting_ || verdict.lasting;
  rise_ = std::max(rise_, verdict.rise);
}

void GrowthClaim::withdraw() { *this = GrowthClaim(to_claim_, to_withdraw_); }

}  // namespace mljobd::core
