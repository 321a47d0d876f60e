// What the growth detector goes by. The defaults are those of the design, or what tests/bench/growth showed to be
// better: then the line says what was seen. The drifts there take one to three and a half hours to their limit.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/types.hpp"

namespace mljobd::core {

// Counts are fixed, so that what a job costs is.
struct GrowthWindow {
  static constexpr std::size_t buckets = 30;
  static constexpr std::size_t least_buckets = 20;  // fewer are not judged
  // The minimum of so many buckets in a row is the trough of teeth of up to five minutes. With the buckets' own minima
  // as troughs a fifth of the drifts below such teeth is not seen within 30 buckets.
  static constexpr std::size_t trough_buckets = 5;
  static constexpr std::size_t long_bucket_factor = 5;  // of the long window a bucket is five minutes
  static constexpr std::size_t long_buckets = 24;       // two hours
  static constexpr std::size_t least_long_buckets = 18;
};

// Times and rates are those of a real night: time_scale_percent makes all of them shorter, for tests that cannot wait.
struct GrowthSettings {
  Microseconds sample = std::chrono::seconds(5);  // how often the daemon looks
  Microseconds bucket = std::chrono::seconds(60);
  Microseconds warmup = std::chrono::minutes(10);  // at least, then until a plateau
  // What rises evenly from nothing for so long is judged like any other. Without a bound such a leak is never seen;
  // with 30 min, 3 % of the data sets that take up to 45 min to load were reported.
  Microseconds longest_warmup = std::chrono::minutes(45);
  Bytes minimum_slope = Bytes{64} << 20;  // per hour
  double minimum_slope_percent = 1;       // of the limit, per hour
  // The rise within the window. With the 512 MiB and 3 % of the design three of ten drifts are not seen within 30
  // buckets: for a limit of 4 GiB 512 MiB is an eighth, and 3 % in 25 min is all of it in 14 h. What keeps false alarms
  // away is that growth has to be even and must not slow down.
  Bytes minimum_rise = Bytes{64} << 20;
  double minimum_rise_percent = 1.5;  // of the limit
  double jump_z = 3.5;                // modified z of a step that begins a new window (Iglewicz and Hoaglin)
  double p_value = 0.01;
  Microseconds warning = std::chrono::minutes(60);
  Microseconds critical = std::chrono::minutes(10);
  Microseconds shown = std::chrono::hours(24);  // a limit that is farther away is not told
  std::uint32_t time_scale_percent = 100;       // 1 to 100

  bool operator==(const GrowthSettings&) const = default;
};

[[nodiscard]] constexpr Microseconds scaled(Microseconds duration, const GrowthSettings& settings) {
  return std::max(duration / 100 * settings.time_scale_percent, Microseconds(1));
}

}  // namespace mljobd::core
