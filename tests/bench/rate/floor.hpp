// What no job manager on top of systemd can do without: start a slice with a service in it, and stop both.
#pragma once

#include <cstdint>

#include "bus.hpp"

namespace mljobd::rate {

// `jobs` times `true`, one after the other, with the properties that a job's units have. Needs root.
void run_floor(Bus& bus, std::uint32_t jobs);

}  // namespace mljobd::rate
