// Who gives way: the least important job that helps.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/pressure_settings.hpp"
#include "core/pressure_snapshot.hpp"

namespace mljobd::core {

enum class Measure { throttle, park, kill };

// A job with what the policy remembers of it.
struct Contender {
  const PressureJob* job = nullptr;  // never null
  bool throttled = false;
  bool park_failed = false;
  bool unkillable = false;
  bool grows = false;  // in the last seconds, or in the last minutes
};

struct VictimQuestion {
  Measure measure = Measure::kill;
  Now now{};
  std::optional<JobId> top{};
  Bytes capacity = 0;
  Bytes deficit = 0;  // what is to be free again; above 0
  MachineMemory machine{};
  bool emergency = false;     // the young and the small are taken too
  bool growers_only = false;  // for Measure::throttle
};

// Why a job was passed over. The words are stable.
enum class PassedOver {
  no,
  top,
  empty,
  starting,
  young,
  stopping,
  parked,
  parking,
  frozen,
  throttled,
  unkillable,
  park_failed,
  unparkable,
  no_swap_room,
  too_small,
  not_growing,
  // These would have done, but another one goes first:
  more_important,
  not_restartable,
  frees_too_little,
  frees_more_than_needed,
  frees_less,
  grows_less,
  older,
};

[[nodiscard]] std::string_view to_word(PassedOver reason);

// A line of the decision's record.
struct Candidate {
  JobId id = 0;
  std::string name{};
  std::string class_name{};
  std::int32_t rank = 0;
  Bytes size = 0;         // what its giving way frees
  std::string verdict{};  // "chosen", or why it was passed over

  bool operator==(const Candidate&) const = default;
};

// The most important job that runs: highest rank, then priority, then the one that began first. It never gives way.
[[nodiscard]] std::optional<JobId> top_job(std::span<const PressureJob> jobs);

// Whether the first is more important than the second; total, so that the order of the list decides nothing.
[[nodiscard]] bool more_important(const PressureJob& left, const PressureJob& right);

// Swap has room for what it has in memory, within the share that parking may use.
[[nodiscard]] bool fits_in_swap(const PressureSettings& settings, const MachineMemory& machine,
                                const CgroupMemory& memory);

// Least important first: rank and priority; may be started again (for a kill); frees enough, and the smallest that
// does, else the largest; grows; began last. Sizes that are nearly the same count as the same, or growth would never
// decide anything. Empty when nobody is left to ask.
[[nodiscard]] const PressureJob* select_victim(const PressureSettings& settings, const VictimQuestion& question,
                                               std::span<const Contender> contenders);

// What each of them was weighed as, the chosen one first, then the least important; at most so many.
[[nodiscard]] std::vector<Candidate> weigh(const PressureSettings& settings, const VictimQuestion& question,
                                           std::span<const Contender> contenders, const PressureJob* chosen,
                                           std::size_t limit);

}  // namespace mljobd::core
