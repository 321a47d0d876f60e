// Random courses of a job's memory, of the shapes that real jobs have, each with the truth about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace growth {

using mljobd::core::BootTime;
using mljobd::core::Bytes;

enum class Shape {
  flat,
  step,              // one to three, up or down
  sawtooth,          // teeth of 20 s to 20 min, up to 30 % of the level
  saturating,        // a cache that fills up, exponentially or like a logarithm up to its size
  preload,           // rises from nothing for 5 to 45 min, then stays
  restart,           // falls to nearly nothing and loads again, one to three times
  gap,               // frozen, or without a sample, one to three times for up to an hour
  drift,             // from some moment on, to the limit
  drift_at_start,    // from the first moment on
  sawtooth_drift,    // teeth of 20 s to 5 min on it
  restart_drift,     // after a restart in the middle of an earlier one
  gap_drift,         // with gaps in it
  long_teeth_drift,  // teeth of 5 to 15 min on it
  stairs_drift,      // not steadily, but by a piece every 3 to 12 min
  slow_drift,        // 7 to 14 h to the limit, of which five are looked at
};
inline constexpr int shape_count = static_cast<int>(Shape::slow_drift) + 1;

[[nodiscard]] std::string_view to_word(Shape shape);
[[nodiscard]] bool grows(Shape shape);  // drift and the like

struct Sample {
  BootTime time{};
  Bytes needed = 0;
  bool suspended = false;  // the detector is told
};

struct Trace {
  std::vector<Sample> samples{};  // every 5 s, five hours or up to the limit
  Bytes limit = 0;
  std::optional<BootTime> onset{};  // of the drift, or the end of the shortest warm-up where that is later
  std::optional<BootTime> hit{};    // when the limit is met; those that drift slowly meet it later
};

// The same for the same seed.
[[nodiscard]] Trace make_trace(Shape shape, std::uint64_t seed);

}  // namespace growth
