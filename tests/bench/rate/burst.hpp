// Many jobs submitted at once: one call each, then one wait for all.
#pragma once

#include <cstdint>

#include "bus.hpp"

namespace mljobd::rate {

// Throws when a job of `true` ends otherwise than done, or does not end.
void run_burst(Bus& bus, std::uint32_t jobs);

}  // namespace mljobd::rate
