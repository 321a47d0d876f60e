// What would start when, if every job took as long as it may: for a pipeline or a job that is only tried out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/dependencies.hpp"
#include "core/job.hpp"
#include "core/scheduler.hpp"

namespace mljobd::core {

struct PreviewInput {
  SchedulerInput state{};  // as for plan(); the dependency checks of the jobs named below are made anew
  struct Dependent {
    JobId id = 0;
    std::vector<Dependency> after{};
  };
  std::vector<Dependent> dependents{};
  JobLookup lookup{};  // what is known now
};

struct PreviewEntry {
  JobId id = 0;
  // At the latest, as the time limits have it. Empty: nobody can tell, because it waits for a person, for a job without
  // a time limit or for a failure, because it can never run, or because it lies too far ahead.
  std::optional<RealTime> start{};
  // Why it does not start at once.
  PendingReason reason = PendingReason::none;
  std::string detail{};

  bool operator==(const PreviewEntry&) const = default;
};

// So many jobs are looked at, over all the plans of a preview: the daemon does nothing else meanwhile. The first plan
// is made whatever its length.
inline constexpr std::size_t preview_decisions = 200'000;

// The waiting jobs in the order in which they start; behind them, in the order of the first plan, those of which nobody
// can tell. All are taken to end well, each when its time limit is over. The plans start as many as fit at a time.
[[nodiscard]] std::vector<PreviewEntry> preview(PreviewInput input, std::size_t most_decisions = preview_decisions);

}  // namespace mljobd::core
