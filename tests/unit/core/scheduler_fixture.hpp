// Queues and machines for the tests of the scheduler.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "core/scheduler.hpp"

namespace mljobd::core::fixture {

inline constexpr Bytes gibi = Bytes{1} << 30;

inline RealTime at(std::int64_t second) { return RealTime(std::chrono::seconds(second)); }

inline const std::vector<JobClass>& classes() {
  static const std::vector<JobClass> configured{JobClass{.name = "train", .max_running = 1},
                                                JobClass{.name = "validate", .max_running = 2},
                                                JobClass{.name = "batch"}};
  return configured;
}

inline WaitingJob waiting(JobId id, std::string_view class_name, Bytes claim, std::int32_t priority = 0) {
  return {.id = id, .class_name = class_name, .priority = priority, .memory_claim = claim, .submitted = at(id)};
}

inline SchedulerInput input(std::vector<WaitingJob> waiting_jobs, std::vector<RunningJob> running = {}) {
  return {.waiting = std::move(waiting_jobs),
          .running = std::move(running),
          .classes = classes(),
          .memory_capacity = 16 * gibi,
          .draining = false,
          .start_limit = 1000};
}

inline PlanEntry starts(JobId id) { return {.id = id, .start = true}; }
inline PlanEntry waits(JobId id, PendingReason reason, std::string detail = "") {
  return {.id = id, .start = false, .reason = reason, .detail = std::move(detail)};
}
using Plan = std::vector<PlanEntry>;

// A machine of four cores that jobs may reserve.
inline SchedulerInput with_cores(std::vector<WaitingJob> waiting_jobs, std::vector<RunningJob> running = {}) {
  auto state = input(std::move(waiting_jobs), std::move(running));
  state.core_capacity = 4;
  return state;
}

inline WaitingJob reserving(JobId id, std::uint32_t cores, Bytes claim = 0) {
  auto job = waiting(id, "batch", claim);
  job.cores = cores;
  return job;
}

inline WaitingJob limited(WaitingJob job, Microseconds limit) {
  job.time_limit = limit;
  return job;
}

inline WaitingJob owned(WaitingJob job, UserId owner) {
  job.owner = owner;
  return job;
}

inline RunningJob runs(JobId id, Bytes claim, std::uint32_t cores = 0,
                       std::optional<Microseconds> remaining = std::nullopt) {
  return {.id = id, .class_name = "batch", .memory_claim = claim, .cores = cores, .remaining = remaining};
}

inline std::vector<JobId> order_of(const Plan& entries) {
  std::vector<JobId> ids;
  for (const auto& entry : entries) ids.push_back(entry.id);
  return ids;
}

}  // namespace mljobd::core::fixture

namespace Catch {
template <>
struct StringMaker<mljobd::core::PlanEntry> {
  static std::string convert(const mljobd::core::PlanEntry& entry) {
    return std::to_string(entry.id) + (entry.start ? " starts" : " waits: ") + std::string(to_word(entry.reason)) +
           " (" + entry.detail + ")";
  }
};
}  // namespace Catch
