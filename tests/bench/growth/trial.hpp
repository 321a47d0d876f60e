// The detector on many traces of a shape: how often it is wrong, how late, and how far off.
#pragma once

#include <cstdint>
#include <vector>

#include "core/growth_settings.hpp"
#include "traces.hpp"

namespace growth {

struct Rates {
  int traces = 0;
  int reported = 0;  // growth was told where there was none; with a drift: before it began
  int alarmed = 0;   // likewise a warning, or a suspected leak
  int detected = 0;  // within 30 buckets of the onset
  int detected_later = 0;
  int lasting = 0;                // drifts of two and a half hours or more, of which two are looked at for a leak
  int leaks = 0;                  // of them suspected before the limit was met
  int wavering = 0;               // growth was told, taken back, and told again
  std::vector<double> buckets{};  // from onset to detection
  std::vector<double> errors{};   // of the forecasts in the last third, relative: 0.1 is 10 % too late
  std::vector<double> notice{};   // minutes from the first warning to the limit
  int without_forecast = 0;       // moments in the last third at which none was made
};

// Forecasts are judged in the last third of the way from the onset to the limit, at every bucket, as long as the limit
// is at least ten minutes away: nearer, one burst decides.
[[nodiscard]] Rates try_shape(Shape shape, int traces, const mljobd::core::GrowthSettings& settings);

[[nodiscard]] double quantile(std::vector<double> values, double share);
// The share of the last third's moments whose forecast is off by no more than that.
[[nodiscard]] double share_within(const Rates& rates, double error);

}  // namespace growth
