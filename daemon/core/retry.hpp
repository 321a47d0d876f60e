// Whether an attempt that did not end well is followed by another, when, and with how much memory.
#pragma once

#include <optional>

#include "core/death_cause.hpp"
#include "core/job.hpp"
#include "core/types.hpp"

namespace mljobd::core {

struct Retry {
  RealTime not_before{};
  std::optional<Bytes> memory{};  // the claim and ceiling of the next attempt, where it is more than that of the last

  bool operator==(const Retry&) const = default;
};

// Empty when there is none: no retry was asked for or is left, somebody cancelled the job, it gave way to others, or
// the end says that the next attempt would end alike (a time limit, a program that does not exist, an own memory limit
// that may not be raised). memory_bound: the most that a job of its class may have on this machine. Between attempts
// lie 10 s, 20 s, 40 s … at most 10 minutes: what failed for want of something outside the job has time to come back.
[[nodiscard]] std::optional<Retry> retry_after(const Job& job, const Verdict& verdict, Bytes memory_bound,
                                               RealTime now);

}  // namespace mljobd::core
