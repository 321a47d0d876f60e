// A night on a small machine: jobs that need more than they said, and the policy that has to get them all through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/pressure_policy.hpp"
#include "pressure_fixture.hpp"

namespace mljobd::core::pressure_fixture {

struct NightJob {
  std::int32_t rank = 0;
  Bytes peak = 0;
  Bytes growth = 0;      // bytes per second of work, until the peak
  Microseconds work{0};  // at full speed
  Microseconds begins{0};
};

struct Night {
  Bytes swap = 0;
  std::uint32_t swap_cost_percent = 0;  // of what is swapped out, the RAM that it still takes: zram's is not 0
  std::vector<NightJob> jobs{};         // ids from 1; the first is the training
};

enum class Shape {
  ramps,  // two validations and a batch, 2 to 60 MiB/s each
  rapid,  // the same at up to 200 MiB/s, which leaves a second or two
  many,   // eight small ones
};

// The seed decides on sizes, speeds and begins; the jobs overcommit the machine by 60 % and more.
[[nodiscard]] Night random_night(Shape shape, std::uint64_t seed, Bytes swap, std::uint32_t swap_cost_percent);

struct NightReport {
  std::optional<std::string> violation{};  // the first thing that must not happen
  std::size_t kills = 0;
  std::size_t parks = 0;
  Microseconds train_took{0};
  Microseconds lost_work{0};
  Microseconds took{0};
};

[[nodiscard]] NightReport simulate(const Night& night, const PressureSettings& settings = {});

}  // namespace mljobd::core::pressure_fixture
