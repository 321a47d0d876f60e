// How bad it is: the signs, the level that they ask for, and the level that holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/pressure_settings.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// What a decision is based on. The words are stable: records are kept under them.
enum class PressureRule {
  none,
  available,            // less than the level's bound
  emergency,            // less than anything may be waited for
  forecast,             // exhausted soon at the present slope
  job_stall,            // a job stands still for want of memory
  top_stall,            // the top job does
  top_slow,             // the top job gets less CPU time than before memory ran short
  top_refaults,         // its pages come back from swap
  group_stall,          // all of a job stands still
  calm,                 // enough available, no stalls, for long enough
  park_impossible,      // nobody can be parked, and it does not get better
  park_without_effect,  // the park moved nothing
  park_done,            // the park is complete
  memory_back,          // the victim is gone and its memory free
  unkillable,           // the victim is still there
  grace_cut_short,      // it gets worse while the victim saves its work
  nothing_helps,        // nobody whose giving way would help
  top_job_alone,        // nobody but the top job
  throttle_stuck,       // at our limit, using no less
  own_limit_stuck,      // at its own memory.high
  room,                 // it fits with the margin
  idle_room,            // it fits, and nothing else runs
  parked_too_long,
  no_room,       // nothing else runs, and still it does not fit
  mode_changed,  // what was done before is undone
};

[[nodiscard]] std::string_view to_word(PressureRule rule);

// What can be seen, of one look and of the windows before it.
struct PressureSigns {
  Bytes capacity = 0;
  Bytes available = 0;
  std::optional<double> slope{};  // of what is available, bytes per second
  std::optional<Microseconds> exhausted_in{};
  bool job_stalls = false;
  bool group_stalls = false;
  bool top_stalls = false;               // as level 2 has it
  bool top_stalls_hard = false;          // as level 3 has it
  std::optional<double> top_full{};      // share of the last seconds
  std::optional<double> top_speed{};     // share of its speed before; only while memory is short and reclaim goes on
  std::optional<double> top_refaults{};  // per second
  bool calm_stalls = true;               // no job stalls to speak of
};

struct LevelBounds {
  Bytes watch = 0;
  Bytes throttle = 0;
  Bytes park = 0;
  Bytes kill = 0;
  Bytes emergency = 0;
  Bytes calm = 0;  // above it level 1 may end

  bool operator==(const LevelBounds&) const = default;
};

[[nodiscard]] LevelBounds level_bounds(const PressureSettings& settings, Bytes capacity);

struct LevelReason {
  std::uint32_t level = 0;
  PressureRule rule = PressureRule::none;

  bool operator==(const LevelReason&) const = default;
};

// The level that the signs ask for by themselves. at_level_one: for how long it has been 1 or more.
[[nodiscard]] LevelReason assess(const PressureSettings& settings, const PressureSigns& signs,
                                 std::optional<Microseconds> at_level_one);

// Rises at once. Falls when there is more than the bound by the margin; to 0 only when it has been calm for a while.
class LevelKeeper {
 public:
  explicit LevelKeeper(const PressureSettings& settings) : settings_(settings) {}

  void step(BootTime now, const PressureSigns& signs);

  [[nodiscard]] std::uint32_t level() const { return held_.level; }
  [[nodiscard]] PressureRule rule() const { return held_.rule; }  // why it is at that level, or why it left the last
  // What the present signs ask for. Where the level only lasts, there is no reason to do more than was done.
  [[nodiscard]] const LevelReason& asked() const { return asked_; }
  [[nodiscard]] BootTime since() const { return since_; }  // of being at 0, or above 0

 private:
  [[nodiscard]] std::uint32_t lowest_possible(BootTime now, const PressureSigns& signs, std::uint32_t asked);

  PressureSettings settings_;
  LevelReason held_{};
  LevelReason asked_{};
  BootTime since_{};
  std::optional<BootTime> calm_since_{};
};

}  // namespace mljobd::core
