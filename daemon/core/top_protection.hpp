// What the kernel is to leave alone when it looks for memory: what the most important job needs (memory.low).
//
// Effective protection of a cgroup is bounded by that of those above it, so that its slice, its class's and mljob.slice
// get the same amount. It binds nobody: where nothing else is left to reclaim the kernel takes protected memory too.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/pressure_settings.hpp"
#include "core/pressure_snapshot.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// MemoryLow of a slice is to be set.
struct ProtectionChange {
  std::string slice{};
  Bytes low = 0;  // 0: not protected (any more)

  bool operator==(const ProtectionChange&) const = default;
};

// The highest rank, then priority, then the one that began first, of those that run and have for `protect_after`:
// quick jobs are not worth three calls to PID 1. Null when there is none.
[[nodiscard]] const PressureJob* job_to_protect(const PressureSettings& settings, const PressureSnapshot& snapshot);
// What it needs in memory now, within protect_at_most and its own limit, in whole MiB; 0 where that is too little to
// be worth it.
[[nodiscard]] Bytes protected_amount(const PressureSettings& settings, const PressureSnapshot& snapshot,
                                     const PressureJob& job);

// Remembers what is in force, and asks for a change only where it matters: another job, or an eighth more or less, and
// of one job no more often than every protect_interval. Nothing of it needs to survive the daemon: what is in force is
// read back from the cgroups.
class TopProtection {
 public:
  explicit TopProtection(const PressureSettings& settings);
  void apply_settings(const PressureSettings& settings);

  // What an earlier daemon left in force.
  void found(const std::string& slice, Bytes low);
  // A slice of a job that is not among those of the snapshot is gone, and nothing is asked for it.
  [[nodiscard]] std::vector<ProtectionChange> step(const PressureSnapshot& snapshot);
  // It could not be set: everything is tried again after a while.
  void failed(const std::string& slice, BootTime now);

 private:
  using Amounts = std::map<std::string, Bytes>;  // of slices; none of them 0

  [[nodiscard]] Amounts target(const PressureSnapshot& snapshot) const;
  [[nodiscard]] Bytes settled_amount(const std::string& slice, Bytes wanted, BootTime now) const;
  void forget_gone(const PressureSnapshot& snapshot);

  PressureSettings settings_;  // times scaled
  Amounts in_force_{};
  BootTime next_amount_{};
  BootTime next_try_{};
};

}  // namespace mljobd::core
