#include "core/growth_detector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace mljobd::core {
namespace {

using Window = GrowthWindow;

// Of an even rise a sixth of the window brings a sixth, or a fifth with noise. Two steps in half an hour bring half of
// it each, and three in two hours a third; what grows by ever so many pieces is even again.
constexpr double most_at_once = 0.45;
constexpr double most_at_once_long = 0.3;
// Seen: with less, caches that began to fill up a quarter of an hour ago were taken for growth.
constexpr std::size_t least_risen = 14;
constexpr double most_disagreement = 3;  // of the two windows' slopes, where a leak is suspected
constexpr int verdicts_to_claim = 2;
constexpr int verdicts_to_withdraw = 5;
constexpr std::size_t least_steps_for_jump = 6;
// What a jump is measured against at least: memory that does not move at all would make one of every page.
constexpr double least_deviation = 16.0 * 1024 * 1024;
constexpr double least_deviation_share = 0.001;

double lowest(std::span<const Bucket> buckets) {
  return std::min_element(buckets.begin(), buckets.end(), [](auto& a, auto& b) { return a.minimum < b.minimum; })
      ->minimum;
}

double highest(std::span<const Bucket> buckets) {
  double most = 0;
  for (const Bucket& bucket : buckets) most = std::max(most, bucket.maximum);
  return most;
}

double buckets_per_hour(const GrowthSettings& settings) {
  constexpr std::chrono::duration<double> hour = std::chrono::hours(1);
  return hour / std::chrono::duration<double>(settings.bucket);
}

// Longer ones come from a clock that was not meant.
constexpr Microseconds longest_gap = std::chrono::hours(24 * 365);

Microseconds between(BootTime earlier, BootTime later) {
  const auto count = [](BootTime time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); };
  const std::uint64_t gap = count(later) - count(earlier);  // no overflow, wherever the clock began
  return Microseconds(std::min(gap, static_cast<std::uint64_t>(longest_gap.count())));
}

// From the one before it, whatever is missing between the two.
double step(std::span<const TrendPoint> points, std::size_t index) {
  const double time = points[index].time - points[index - 1].time;
  return (points[index].value - points[index - 1].value) / std::max(time, 1.0);
}

// The last point, which lies outside of where the others have been: back among them is a tooth, not a jump.
bool is_jump(std::span<const TrendPoint> points, double reached, double least_z) {
  if (points.size() < least_steps_for_jump + 2) return false;
  const double last = points.back().value;
  const auto earlier = points.first(points.size() - 1);
  const auto [low, high] = std::minmax_element(earlier.begin(), earlier.end(),
                                               [](const auto& a, const auto& b) { return a.value < b.value; });
  if (last >= low->value && last <= std::max(high->value, reached)) return false;
  std::array<double, most_trend_points> steps{};
  for (std::size_t i = 1; i < earlier.size(); ++i) steps[i - 1] = step(points, i);
  const double deviation = std::max(least_deviation, std::abs(earlier.back().value) * least_deviation_share);
  const double latest = step(points, points.size() - 1);
  return modified_z(std::span(steps).first(earlier.size() - 1), latest, deviation) > least_z;
}

}  // namespace

struct GrowthDetector::Points {
  std::array<TrendPoint, Window::buckets> points{};
  std::size_t count = 0;

  void add(std::int64_t time, double value) { points[count++] = {static_cast<double>(time), value}; }
  [[nodiscard]] std::span<const TrendPoint> all() const { return std::span(points).first(count); }
};

GrowthDetector::GrowthDetector(const GrowthSettings& settings, std::optional<Microseconds> warmup)
    : settings_(settings),
      own_warmup_(warmup),
      buckets_(scaled(settings.bucket, settings), Window::buckets),
      long_buckets_(scaled(settings.bucket, settings) * Window::long_bucket_factor, Window::long_buckets),
      claim_(verdicts_to_claim, verdicts_to_withdraw),
      long_claim_(1, 2) {}

void GrowthDetector::add(BootTime time, Bytes needed) {
  if (suspended_) return;
  advance(time);
  if (buckets_.add(active_, static_cast<double>(needed))) look();
}

void GrowthDetector::suspend() { suspended_ = true; }

void GrowthDetector::resume() {
  skip_gap_ = skip_gap_ || suspended_;
  suspended_ = false;
}

void GrowthDetector::advance(BootTime time) {
  if (last_time_ && time <= *last_time_) return;
  if (last_time_ && !skip_gap_) active_ += between(*last_time_, time);
  skip_gap_ = false;
  last_time_ = time;
}

void GrowthDetector::look() {
  const auto closed = buckets_.closed();
  if (closed.size() > 1) {
    const double before = closed[closed.size() - 2].minimum;
    // A new process, which loads everything again.
    if (closed.back().minimum < before / 2) begin_warmup(before);
  }
  if (warming_up_) {
    if (!warmup_ended()) return;
    warming_up_ = false;
    buckets_.keep_last(1);
  }
  restart_after_jump();
  judge();
}

void GrowthDetector::begin_warmup(double level_before) {
  buckets_.keep_last(1);
  long_buckets_.clear();
  claim_.withdraw();
  long_claim_.withdraw();
  warmup_begin_ = active_;
  fastest_load_ = 0;
  level_before_ = level_before;
  warming_up_ = true;
}

// At a plateau: troughs rise at less than half of the fastest pace since the beginning. So a load of any length is
// waited for, and a leak that follows it is not taken for a part of it. What was loaded before ends where it was.
bool GrowthDetector::warmup_ended() {
  const auto elapsed = active_ - warmup_begin_;
  if (own_warmup_) return elapsed >= scaled(*own_warmup_, settings_);
  const auto closed = buckets_.closed();
  if (closed.size() < 2 * Window::trough_buckets) return false;
  const auto recent = closed.last(Window::trough_buckets);
  const auto earlier = closed.last(2 * Window::trough_buckets).first(Window::trough_buckets);
  const auto time = static_cast<double>(recent.back().index - earlier.back().index);
  const double pace = (lowest(recent) - lowest(earlier)) / time;
  fastest_load_ = std::max(fastest_load_, pace);
  if (elapsed < scaled(settings_.warmup, settings_)) return false;
  const double negligible = static_cast<double>(settings_.minimum_slope) / buckets_per_hour(settings_);
  return pace <= std::max(fastest_load_ / 2, negligible) || lowest(recent) > level_before_ ||
         elapsed >= scaled(settings_.longest_warmup, settings_);
}

void GrowthDetector::restart_after_jump() {
  const auto points = troughs();
  const auto closed = buckets_.closed();
  const auto before = closed.first(closed.size() - std::min(closed.size(), Window::trough_buckets));
  // A trough that rises by less than the teeth are high is the next of a stair.
  if (!is_jump(points.all(), highest(before), settings_.jump_z)) return;
  if (points.points[points.count - 1].value > points.points[points.count - 2].value) {
    // Seen only when the last of the low buckets is out of sight: these are all above. What was claimed may go on.
    buckets_.keep_last(Window::trough_buckets);
  } else {
    buckets_.keep_last(1);
    claim_.withdraw();
  }
}

void GrowthDetector::judge() {
  const auto recent = troughs();
  if (recent.count == 0) return;
  const GrowthRules rules{.least_points = Window::least_buckets - Window::trough_buckets + 1,
                          .least_risen = least_risen,
                          .most_at_once = most_at_once,
                          .p_value = settings_.p_value,
                          .height = height_before(recent)};
  if (const auto verdict = judge_growth(recent.all(), rules)) claim_.hear(*verdict);
  const auto latest = buckets_.closed().back().index * scaled(settings_.bucket, settings_);
  if (long_buckets_.add(latest, recent.points[recent.count - 1].value)) judge_long();
}

void GrowthDetector::judge_long() {
  Points points;
  for (const Bucket& bucket : long_buckets_.closed()) {
    points.add(bucket.index * static_cast<std::int64_t>(Window::long_bucket_factor), bucket.minimum);
  }
  const GrowthRules rules{.least_points = Window::least_long_buckets,
                          .least_risen = least_risen,
                          .most_at_once = most_at_once_long,
                          .p_value = settings_.p_value};
  if (const auto verdict = judge_growth(points.all(), rules)) long_claim_.hear(*verdict);
}

GrowthDetector::Points GrowthDetector::troughs() const {
  Points points;
  const auto closed = buckets_.closed();
  for (std::size_t end = Window::trough_buckets; end <= closed.size(); ++end) {
    points.add(closed[end - 1].index, lowest(closed.subspan(end - Window::trough_buckets, Window::trough_buckets)));
  }
  return points;
}

// The highest trough of the last two hours before those points.
double GrowthDetector::height_before(const Points& points) const {
  double height = 0;
  for (const Bucket& bucket : long_buckets_.closed()) {
    const auto end = (bucket.index + 1) * static_cast<std::int64_t>(Window::long_bucket_factor);
    if (static_cast<double>(end) <= points.points[0].time) height = std::max(height, bucket.maximum);
  }
  return height;
}

bool GrowthDetector::matters(const GrowthClaim& claim, double reference) const {
  const double per_hour = claim.trend().slope * buckets_per_hour(settings_);
  return claim.growing() &&
         per_hour >= std::max(static_cast<double>(settings_.minimum_slope),
                              reference * settings_.minimum_slope_percent / 100) &&
         claim.rise() >=
             std::max(static_cast<double>(settings_.minimum_rise), reference * settings_.minimum_rise_percent / 100);
}

// The limit is met by the top of a tooth, not by what is held at the moment.
double GrowthDetector::recent_height(double now) const {
  double height = now;
  const auto closed = buckets_.closed();
  for (const Bucket& bucket : closed.last(std::min(closed.size(), Window::trough_buckets))) {
    height = std::max(height, bucket.maximum);
  }
  if (buckets_.open()) height = std::max(height, buckets_.open()->maximum);
  return height;
}

Forecast GrowthDetector::forecast(Bytes now, Bytes limit) const {
  Forecast forecast;
  if (warming_up_ || !(claim_.known() || long_claim_.known())) return forecast;
  const auto reference = static_cast<double>(limit == unlimited ? now : std::max(limit, now));
  const bool grows = matters(claim_, reference);
  const bool grows_long = matters(long_claim_, reference);
  const Trend trend = (grows || !grows_long ? claim_ : long_claim_).trend();
  forecast.growth = grows || grows_long ? Forecast::Growth::growing : Forecast::Growth::steady;
  forecast.bytes_per_hour = trend.slope * buckets_per_hour(settings_) * 100 / settings_.time_scale_percent;
  if (forecast.growth == Forecast::Growth::steady) return forecast;
  const double ratio = claim_.trend().slope / long_claim_.trend().slope;
  const bool agree = ratio <= most_disagreement && ratio >= 1 / most_disagreement;
  if (grows && grows_long && long_claim_.lasting() && agree) forecast.growth = Forecast::Growth::leak_suspect;
  if (limit != unlimited) {
    foretell(forecast, trend, std::max(static_cast<double>(limit) - recent_height(static_cast<double>(now)), 0.0));
  }
  return forecast;
}

void GrowthDetector::foretell(Forecast& forecast, const Trend& trend, double distance) const {
  const auto bucket_length = static_cast<double>(scaled(settings_.bucket, settings_).count());
  const auto shown = scaled(settings_.shown, settings_);
  const auto time_at = [&](double slope) -> std::optional<Microseconds> {
    const double time = slope > 0 ? distance / slope * bucket_length : std::numeric_limits<double>::infinity();
    if (time > static_cast<double>(shown.count())) return std::nullopt;
    return Microseconds(static_cast<Microseconds::rep>(time));
  };
  forecast.time_to_limit = time_at(trend.slope);
  if (!forecast.time_to_limit) return;
  forecast.earliest = time_at(trend.highest);
  forecast.latest = time_at(trend.lowest);
  if (*forecast.time_to_limit < scaled(settings_.critical, settings_)) {
    forecast.severity = Forecast::Severity::critical;
  } else if (*forecast.time_to_limit < scaled(settings_.warning, settings_)) {
    forecast.severity = Forecast::Severity::warning;
  }
}

}  // namespace mljobd::core
