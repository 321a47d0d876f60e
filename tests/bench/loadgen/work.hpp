// The steps of the load, and how long they took.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "memory.hpp"
#include "options.hpp"

namespace mljobd::load {

using Clock = std::chrono::steady_clock;

struct Summary {
  std::uint64_t steps = 0;
  double seconds = 0;
  double slowest_gap = 0;      // seconds between the ends of two steps that follow each other, or to the first's
  std::uint64_t checksum = 0;  // of the work: the same for the same steps, threads and work
};

// Grows the memory to its bound at the speed asked for.
void grow_to_bound(ResidentMemory& memory, const Options& options);

// Steps until there were enough of them or the time is up, whatever comes first. None of both: no step.
[[nodiscard]] Summary run_steps(const ResidentMemory& memory, const Options& options);

// One line of JSON, without its newline.
[[nodiscard]] std::string to_json(const Summary& summary, std::uint64_t memory);

}  // namespace mljobd::load
