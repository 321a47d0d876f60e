#include "core/trend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace mljobd::core {
namespace {

constexpr std::size_t most_pairs = most_trend_points * (most_trend_points - 1) / 2;
constexpr double normal_quantile_95 = 1.6448536269514722;  // both tails of 5 % make an interval of 90 %

struct PairSlopes {
  std::array<double, most_pairs> slopes;
  std::size_t count = 0;
  int score = 0;  // Kendall's S: rising pairs minus falling ones

  [[nodiscard]] std::span<double> all() { return std::span(slopes).first(count); }
};

std::span<const TrendPoint> last_of(std::span<const TrendPoint> points) {
  return points.last(std::min(points.size(), most_trend_points));
}

void collect(std::span<const TrendPoint> points, PairSlopes& pairs) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double time = points[j].time - points[i].time;
      if (time == 0) continue;
      const double slope = (points[j].value - points[i].value) / time;
      pairs.slopes[pairs.count++] = slope;
      pairs.score += (slope > 0 ? 1 : 0) - (slope < 0 ? 1 : 0);
    }
  }
}

double term(double count) { return count * (count - 1) * (2 * count + 5); }

// Of S when the order is chance; runs of equal values take from it.
double score_variance(std::span<const TrendPoint> points) {
  std::array<double, most_trend_points> values{};
  std::transform(points.begin(), points.end(), values.begin(), [](const TrendPoint& point) { return point.value; });
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(points.size());
  std::sort(values.begin(), end);
  double ties = 0;
  for (auto run = values.begin(); run != end;) {
    const auto next = std::upper_bound(run, end, *run);
    ties += term(static_cast<double>(next - run));
    run = next;
  }
  return (term(static_cast<double>(points.size())) - ties) / 18;
}

double p_value_of(int score, double variance) {
  if (score == 0 || variance <= 0) return 1;
  const double z = (std::abs(score) - 1) / std::sqrt(variance);  // S moves in steps of two: continuity correction
  return std::erfc(z / std::sqrt(2.0));
}

// By rank, counted from the smallest; ranks outside are the ends.
double ranked(std::span<const double> sorted, double rank) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::clamp(std::round(rank), 0.0, last))];
}

}  // namespace

double median_of(std::span<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double modified_z(std::span<double> others, double value, double least_deviation) {
  constexpr double of_normal = 0.6745;  // the median deviation of a normal distribution of standard deviation 1
  const double middle = median_of(others);
  for (double& other : others) other = std::abs(other - middle);
  const double sum = std::accumulate(others.begin(), others.end(), 0.0);
  const double mean = others.empty() ? 0 : sum / static_cast<double>(others.size());
  return of_normal * std::abs(value - middle) / std::max({median_of(others), mean, least_deviation});
}

double slope_of(std::span<const TrendPoint> points) {
  PairSlopes pairs;
  collect(last_of(points), pairs);
  return median_of(pairs.all());
}

std::optional<Trend> trend_of(std::span<const TrendPoint> points) {
  points = last_of(points);
  PairSlopes pairs;
  collect(points, pairs);
  if (points.size() < 3 || pairs.count == 0) return std::nullopt;
  const auto slopes = pairs.all();
  std::sort(slopes.begin(), slopes.end());
  const double variance = score_variance(points);
  const auto count = static_cast<double>(slopes.size());
  const double reach = normal_quantile_95 * std::sqrt(std::max(variance, 0.0));
  Trend trend{.lowest = ranked(slopes, (count - reach) / 2 - 1),
              .highest = ranked(slopes, (count + reach) / 2),
              .p_value = p_value_of(pairs.score, variance),
              .rising = pairs.score > 0};
  const std::size_t half = slopes.size() / 2;
  trend.slope = slopes.size() % 2 == 1 ? slopes[half] : (slopes[half - 1] + slopes[half]) / 2;
  return trend;
}

}  // namespace mljobd::core
