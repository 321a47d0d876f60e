// The thresholds of the pressure policy, each with the reason for its default.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/types.hpp"

namespace mljobd::core {

enum class PressureMode {
  act,
  dry_run,  // decides and records, does nothing
  off,      // only undoes what was done before
};

[[nodiscard]] std::string_view to_word(PressureMode mode);  // "act", "dry-run", "off"
[[nodiscard]] std::optional<PressureMode> pressure_mode_from(std::string_view word);

// A share of the memory that jobs can have, but never more than so much: 10 % of a terabyte would lie idle.
struct MemoryShare {
  std::uint32_t percent = 0;  // 1..100
  Bytes maximum = unlimited;

  bool operator==(const MemoryShare&) const = default;
};

// Rounded down.
[[nodiscard]] Bytes bytes_of(const MemoryShare& share, Bytes capacity);

// "Available" is the headroom: what the machine can still give, or what is left below mljob.slice's limit, whichever
// is less. Shares are of RAM or of that limit likewise. A stall percentage is of the time that is given beside it.
// There is one of it: what belongs together stands together, whatever the padding.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct PressureSettings {
  PressureMode mode = PressureMode::act;

  // With more available than this nothing is done, whatever else looks like pressure: stalls with free memory are of a
  // job against its own limit, or none of ours (nohang #25, #31, #33 killed with 90 % free).
  MemoryShare watch_below{25, Bytes{64} << 30};
  MemoryShare throttle_below{10, Bytes{16} << 30};  // level 1; earlyoom's 10 %, with a cap as Ray has one
  MemoryShare park_below{5, Bytes{8} << 30};        // level 2
  MemoryShare kill_below{2, Bytes{4} << 30};        // level 3
  MemoryShare emergency_below{1, Bytes{1} << 30};   // waits for nothing that could be cut short

  Microseconds forecast_time = std::chrono::seconds(60);  // level 1: exhausted that soon at the present slope
  // Level 1: some task of a job stood still for so long, with reclaim going on. Buck2's 10 %.
  std::uint32_t throttle_stall_percent = 10;
  Microseconds throttle_stall_time = std::chrono::seconds(5);
  // Level 2: all of the top job stood still.
  std::uint32_t park_stall_percent = 10;
  Microseconds park_stall_time = std::chrono::seconds(5);
  // Level 3: likewise; nohang's 40 %.
  std::uint32_t kill_stall_percent = 40;
  Microseconds kill_stall_time = std::chrono::seconds(10);
  // Level 3: all of any job that we do not slow down ourselves; systemd-oomd's 60 % for 30 s.
  std::uint32_t group_stall_percent = 60;
  Microseconds group_stall_time = std::chrono::seconds(30);
  // Level 2: the top job gets less CPU time per second than this share of what it had while memory was there. In the
  // VM a training fell to a tenth while no PSI threshold of any peer would have fired.
  std::uint32_t top_speed_percent = 50;
  Microseconds top_speed_time = std::chrono::seconds(5);
  // Level 2: so many pages per second of the top job come back from swap. The VM saw some hundred in two seconds.
  std::uint32_t top_refaults_per_second = 100;

  // Back to level 0: stalls below this (Buck2's 5 %), and so much more available than the bound, for so long.
  std::uint32_t calm_stall_percent = 5;
  std::uint32_t calm_margin_percent = 25;
  Microseconds calm_time = std::chrono::seconds(30);

  // A throttled job may grow by so much: the kernel reclaims in whoever lowers the limit, which is PID 1.
  std::uint32_t throttle_room_percent = 2;
  Microseconds throttle_interval = std::chrono::seconds(2);  // from one job to the next at level 1
  Microseconds throttle_time = std::chrono::seconds(30);     // stuck at the limit for so long: released

  // What giving way must bring, to be asked of a job: ending ten megabytes for a lack of ten gigabytes only does harm.
  MemoryShare help_at_least{1, Bytes{1} << 30};
  std::uint32_t park_swap_percent = 80;                       // of swap, what others have in it included
  Microseconds park_effect_time = std::chrono::seconds(10);   // a park that moves nothing for so long has failed
  std::optional<Microseconds> longest_park_time{};            // empty: as long as it takes
  Microseconds unpark_interval = std::chrono::seconds(10);    // Buck2 wakes one per 3 s; swapping in takes longer
  MemoryShare unpark_margin{13, Bytes{20} << 30};             // left beside it: above where level 1 ends
  Microseconds kill_pending_time = std::chrono::seconds(10);  // earlyoom waits as long for the victim to be gone
  Microseconds memory_back_time = std::chrono::seconds(2);    // its pages are freed after it is gone
  Microseconds cool_down_time = std::chrono::seconds(15);     // oomd's and nohang's
  Microseconds longest_checkpoint_grace = std::chrono::seconds(60);
  Microseconds young_time = std::chrono::seconds(2);  // a job that has just begun is not killed yet

  // The most important job's memory is left alone (memory.low), up to so much: the rest must do for everybody else's,
  // or there is nothing left that reclaim may take, and it takes the protected memory too.
  MemoryShare protect_at_most{80, unlimited};
  Microseconds protect_after = std::chrono::seconds(10);     // since its start; quick jobs are not worth the calls
  Microseconds protect_interval = std::chrono::seconds(10);  // at which the amount follows what it needs

  // What a throttle, park or kill freed is measured after these times.
  std::array<Microseconds, 3> effect_times{std::chrono::seconds(1), std::chrono::seconds(5), std::chrono::seconds(15)};

  Microseconds sample_interval = std::chrono::seconds(1);
  Microseconds pressed_sample_interval = std::chrono::milliseconds(100);  // from level 1 on

  std::uint32_t time_scale_percent = 100;  // of every time above; for tests, which have seconds rather than minutes

  bool operator==(const PressureSettings&) const = default;
};

// Every time multiplied by the scale, none shorter than 10 ms; the scale of the result is 100 %.
[[nodiscard]] PressureSettings scaled(PressureSettings settings);

// The longest window that a stall or a speed is judged over.
[[nodiscard]] Microseconds longest_window(const PressureSettings& settings);

// Whether the thresholds are in an order that makes sense. Errors: invalid_config.
[[nodiscard]] Expected<void> check(const PressureSettings& settings);

}  // namespace mljobd::core
