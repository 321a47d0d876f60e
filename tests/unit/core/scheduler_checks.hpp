// What must hold of every plan, judged from its input and its entries alone and without the scheduler's own parts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scheduler.hpp"

namespace mljobd::core::simulation {

// The first property that the plan violates; empty when there is none.
//
// - every waiting job has one entry; neither bounds nor capacities are exceeded; held jobs, jobs before their begin
// time
//   and jobs with open dependencies do not start
// - what is said to be short is short; only the first job that lacks a resource reserves it
// - who takes something of a reserved resource ends before the head could start
// - of two jobs of a user that are alike, the younger does not start without the older
// - where nobody reserves anything, whatever fits starts
[[nodiscard]] std::optional<std::string> check_plan(const SchedulerInput& input, const std::vector<PlanEntry>& entries);

}  // namespace mljobd::core::simulation
