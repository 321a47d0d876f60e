// A duration as dictionaries carry it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/types.hpp"

namespace mljobd::core {

// In microseconds; 0 for one that a clock set back has made negative.
[[nodiscard]] constexpr std::uint64_t whole_microseconds(Microseconds duration) {
  return static_cast<std::uint64_t>(std::max<Microseconds::rep>(duration.count(), 0));
}

}  // namespace mljobd::core
