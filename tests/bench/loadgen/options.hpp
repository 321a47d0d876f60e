// What mljob-load is asked to do. Sizes are in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mljobd::load {

struct Options {
  std::uint64_t memory = 0;
  std::uint64_t ramp = 0;  // bytes per second; 0 = at once
  bool ramp_forever = false;
  std::uint64_t shm = 0;
  std::string file_to_read{};
  std::uint32_t threads = 1;
  std::optional<std::uint64_t> steps{};
  std::optional<double> seconds{};
  std::uint64_t work = 5'000'000;  // iterations of each thread in one step
  std::uint64_t spin_us = 0;       // how long a thread that is done with a step spins for the others before it sleeps
  std::uint64_t step_ms = 0;       // a step starts no sooner than this after the one before
  bool progress = false;
  std::string report{};
  bool fork_daemon = false;
  bool zombie = false;
  bool ignore_term = false;
  std::uint64_t print = 0;
  std::uint64_t carriage_returns = 0;
  int exit_code = 0;
};

// Ends the process with CLI11's message and code 2 when the arguments make no sense, and after --help.
[[nodiscard]] Options parse_options(int count, const char* const* arguments);

}  // namespace mljobd::load
