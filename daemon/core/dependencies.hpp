// Whether what a job waits for has come true, may still come true or never will.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dependency.hpp"
#include "core/job.hpp"

namespace mljobd::core {

// What there is to know of a job that others wait for.
struct KnownJob {
  enum class Phase { unknown, waiting, active, finished };  // active: it may hold units

  Phase phase = Phase::unknown;        // unknown: neither here nor in the history
  bool has_started = false;            // in any attempt
  JobResult result = JobResult::lost;  // of a finished one
  bool operator==(const KnownJob&) const = default;
};

// A job that was requeued waits again, whatever became of its last attempt.
[[nodiscard]] KnownJob known_job(const Job& job);

using JobLookup = std::function<KnownJob(JobId)>;

enum class DependencyStatus { satisfied, pending, never };

struct DependencyCheck {
  DependencyStatus status = DependencyStatus::satisfied;
  std::string detail{};  // "waits for 41 to end well"; "job 41 ended as failed, not well"

  bool operator==(const DependencyCheck&) const = default;
};

// All of them have to come true. Never wins over pending: a job whose one dependency is lost is not kept waiting for
// the others. A job nothing is known of satisfies nothing, whatever the kind: how it ended cannot be told.
[[nodiscard]] DependencyCheck check_dependencies(std::span<const Dependency> dependencies, const JobLookup& lookup);

}  // namespace mljobd::core
