// Which waiting jobs start now, and why the others do not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/job.hpp"
#include "core/settings.hpp"
#include "core/types.hpp"

namespace mljobd::core {

struct WaitingJob {
  JobId id = 0;
  UserId owner = 0;
  std::string_view class_name{};
  std::int32_t priority = 0;
  Bytes memory_claim = 0;  // 0 reserves nothing
  RealTime submitted{};
  bool held = false;
};

// Every job that may hold memory: from starting until its units are gone.
struct RunningJob {
  JobId id = 0;
  UserId owner = 0;
  std::string_view class_name{};
  Bytes memory_claim = 0;
};

struct SchedulerInput {
  std::vector<WaitingJob> waiting{};
  std::vector<RunningJob> running{};
  std::span<const JobClass> classes{};
  Bytes memory_capacity = 0;  // for all claims together
  bool draining = false;
  std::uint32_t start_limit = 0;  // at most so many starts in this plan; the next plan goes on
};

struct PlanEntry {
  JobId id = 0;
  bool start = false;
  PendingReason reason = PendingReason::none;  // none also for a job that only start_limit kept back
  std::string detail{};

  bool operator==(const PlanEntry&) const = default;
};

// One entry for each waiting job, in the order they are served: priority, then time of submission, then id.
// The same input gives the same plan. A job that waits for memory keeps what is free: nobody behind it who claims
// memory starts before it does, so a large job is never starved by small ones. A full class holds up only itself.
[[nodiscard]] std::vector<PlanEntry> plan(const SchedulerInput& input);

}  // namespace mljobd::core
