// What the pressure policy decided, with all that speaks for it: kept as a record, sent as a signal, said in a line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/pressure_level.hpp"
#include "core/types.hpp"
#include "core/value.hpp"
#include "core/victim_selection.hpp"

namespace mljobd::core {

struct LevelChanged {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool operator==(const LevelChanged&) const = default;
};
// Its slice's MemoryHigh, which stops its growth, and both weights.
struct Throttle {
  Bytes memory_high = unlimited;
  std::uint64_t cpu_weight = 1;
  std::uint64_t io_weight = 1;
  bool operator==(const Throttle&) const = default;
};
// Back to the limits of its specification.
struct Unthrottle {
  Bytes memory_high = unlimited;  // as it was before
  bool operator==(const Unthrottle&) const = default;
};
// Freeze it, let its slice swap, move its memory out in the background.
struct Park {
  Bytes expected = 0;
  bool operator==(const Park&) const = default;
};
// Thaw it and take the right to swap away again. Also for a park that did not get anywhere.
struct Unpark {
  Bytes size = 0;
  bool operator==(const Unpark&) const = default;
};
// Lift MemoryHigh first: kernels before 6.8 let a dying task sleep at it. Then the checkpoint signal, where there is
// a grace, and after it, or at once, cgroup.kill.
struct Kill {
  std::optional<Microseconds> checkpoint_grace{};
  Bytes expected = 0;
  bool operator==(const Kill&) const = default;
};
// The job is stuck at its own MemoryHigh: let its MemoryMax decide.
struct ReleaseHigh {
  Bytes memory_high = unlimited;
  bool operator==(const ReleaseHigh&) const = default;
};
// Nothing to do, but something to know: the rule says what.
struct Notice {
  std::int64_t freed = 0;  // for memory_back, park_done and park_without_effect
  bool operator==(const Notice&) const = default;
};
// Nothing to do either: how much more is available than before a throttle, park or kill, whoever it came from.
struct Freed {
  std::uint64_t decision = 0;  // its id
  std::string_view of{};       // its word
  // After each of PressureSettings::effect_times; empty where nobody looked at that moment.
  std::array<std::optional<std::int64_t>, 3> after{};
  bool operator==(const Freed&) const = default;
};
using PressureAction = std::variant<LevelChanged, Throttle, Unthrottle, Park, Unpark, Kill, ReleaseHigh, Notice, Freed>;

[[nodiscard]] std::string_view to_word(const PressureAction& action);  // "level", "throttle" … "notice", "freed"

struct DecisionInputs {
  PressureSigns signs{};
  LevelBounds bounds{};
  Bytes machine_available = 0;
  Bytes swap_total = 0;
  Bytes swap_free = 0;
  Bytes deficit = 0;  // what had to be freed; 0 where nobody was looked for
  std::optional<JobId> top{};
};

inline constexpr std::size_t maximum_candidates = 32;  // of a record

struct Decision {
  // The microsecond of its moment, or the next that no decision has yet: so that it is unique without being remembered.
  std::uint64_t id = 0;
  RealTime when{};
  std::uint64_t episode = 0;  // counted from when the daemon began
  std::uint32_t level = 0;
  PressureRule rule = PressureRule::none;
  bool dry_run = false;  // to be recorded, not to be done
  JobId job = 0;         // 0: of no job
  std::string job_name{};
  PressureAction action{};
  DecisionInputs inputs{};
  std::vector<Candidate> candidates{};  // at most maximum_candidates
  std::size_t candidates_left_out = 0;
};

[[nodiscard]] ValueMap to_values(const Decision& decision);
// "kill 7 'evaluate' (812M): 26M of 1.8G available, less than 36M"
[[nodiscard]] std::string describe(const Decision& decision);

}  // namespace mljobd::core
