// Jobs in a given state, moments, and what an event makes of a job.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "core/lifecycle.hpp"

namespace mljobd::core::testing {

using namespace std::chrono_literals;

inline Now at(std::chrono::seconds seconds) {
  return {.real = RealTime(Microseconds(1'700'000'000s + seconds)), .boot = BootTime(Microseconds(seconds))};
}

inline Job job_in(JobState state) {
  Job job;
  job.id = 7;
  job.owner = 1001;
  job.spec.name = "fit";
  job.spec.class_name = "train";
  job.state = std::move(state);
  if (has_units(job.state)) {
    job.attempt.number = 1;
    job.attempt.boot_id = "boot";
    job.attempt.started = at(0s).real;
    job.attempt.started_boot = at(0s).boot;
  }
  return job;
}

inline Ended ended(JobResult result, CauseKind cause = CauseKind::none) {
  Ended event;
  event.verdict.result = result;
  event.verdict.cause.what = cause;
  event.verdict.exit_code = result == JobResult::done ? 0 : 1;
  return event;
}

inline std::vector<JobAction> actions_of(Job& job, const JobEvent& event, Now now = at(10s)) {
  const auto outcome = apply(job, event, now);
  REQUIRE(outcome);
  return outcome->actions;
}

inline bool refused(Job job, const JobEvent& event) {
  const Job before = job;
  const auto outcome = apply(job, event, at(10s));
  return !outcome && outcome.error().code == ErrorCode::invalid_state && job == before;
}

}  // namespace mljobd::core::testing
