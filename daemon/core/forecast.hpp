// Where a job's memory is going, as a value, as the dictionary of the D-Bus property Forecast, and as words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

struct Forecast {
  enum class Growth {
    learning,      // too little was seen since its start, or since its memory last jumped
    steady,        // no growth that would matter
    growing,       // steadily, for half an hour or more
    leak_suspect,  // as fast for two hours, and no slower at their end
  };
  enum class Severity { none, warning, critical };

  Growth growth = Growth::learning;
  double bytes_per_hour = 0;  // of what cannot be reclaimed; the rest only where it grows
  // Until the highest that it lately reached is at the limit. Empty where that is farther away than anybody plans, or
  // where there is no limit. The two others bound it with 90 % confidence; `latest` is empty for "or never".
  std::optional<Microseconds> time_to_limit{};
  std::optional<Microseconds> earliest{};
  std::optional<Microseconds> latest{};
  Severity severity = Severity::none;

  bool operator==(const Forecast&) const = default;
};

// "learning", "steady", "growing", "leak-suspect"; "none", "warning", "critical".
[[nodiscard]] std::string_view to_word(Forecast::Growth growth);
[[nodiscard]] std::string_view to_word(Forecast::Severity severity);

// growth s, bytes_per_hour x, severity s, and where they are known time_to_limit t, earliest t, latest t (µs).
[[nodiscard]] ValueMap to_values(const Forecast& forecast);
// The inverse; what is missing or not understood keeps its default.
[[nodiscard]] Forecast forecast_from(const ValueMap& values);

// "+3.1G/h, limit in 14 min (11–19)", "+64M/h", "suspected leak: +1.0G/h, limit in 3h20m (from 2h50m)"; empty where
// nothing grows. UTF-8.
[[nodiscard]] std::string describe(const Forecast& forecast);

}  // namespace mljobd::core
