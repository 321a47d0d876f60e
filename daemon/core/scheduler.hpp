// Which waiting jobs start now, and why the others do not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dependencies.hpp"
#include "core/job.hpp"
#include "core/settings.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// What holds the jobs of a group together.
enum class GroupKind { singleton, array };

struct WaitingJob {
  JobId id = 0;
  UserId owner = 0;
  std::string_view class_name{};
  std::int32_t priority = 0;
  Bytes memory_claim = 0;  // 0 reserves nothing
  RealTime submitted{};
  bool held = false;
  std::uint32_t cores = 0;          // whole physical cores to itself; 0 shares the rest with others
  std::optional<RealTime> begin{};  // not before; until then the job has no place in the queue
  DependencyCheck dependency{};
  std::string waits_for_memory{};  // it gave way before, and what it needs is not free; empty: it may start
  // Jobs of which only so many run at a time, whatever their class: an array with a throttle, a singleton. The name has
  // to be one for all owners and kinds; that of a singleton is shown to people.
  std::string_view group{};
  std::uint32_t group_limit = 0;  // 0 = no bound
  GroupKind group_kind = GroupKind::singleton;
  // After so long it has ended, its time to stop included. Empty: nobody can tell.
  std::optional<Microseconds> time_limit{};
};

// Every job that may hold resources: from starting until its units are gone.
struct RunningJob {
  JobId id = 0;
  UserId owner = 0;
  std::string_view class_name{};
  Bytes memory_claim = 0;
  std::uint32_t cores = 0;
  std::string_view group{};
  std::optional<Microseconds> remaining{};  // after so long it has ended; empty: nobody can tell (no limit, frozen)
};

// When jobs were started that run or ran lately: whose turn it was.
struct ServedJob {
  JobId id = 0;
  UserId owner = 0;
  RealTime started{};
};

struct SchedulerInput {
  std::vector<WaitingJob> waiting{};
  std::vector<RunningJob> running{};
  std::span<const JobClass> classes{};
  Bytes memory_capacity = 0;  // for all claims together
  bool draining = false;
  std::string pressure{};           // why nothing is started while memory is short; empty: it is not
  std::uint32_t start_limit = 0;    // at most so many starts in this plan; the next plan goes on
  std::uint32_t core_capacity = 0;  // whole physical cores that may be reserved
  Now now{};
  std::vector<ServedJob> served{};  // may be empty: then users who use nothing now count as equals
};

struct PlanEntry {
  JobId id = 0;
  bool start = false;
  // None also for a job that only start_limit kept back. Of dependency_never_satisfied the job has to be ended.
  PendingReason reason = PendingReason::none;
  std::string detail{};

  bool operator==(const PlanEntry&) const = default;
};

// One entry for each waiting job, in the order they are served (queue_order.hpp): priority, then the user who uses
// least, then time of submission, then id. The same input gives the same plan, in whatever order it lists the jobs.
//
// The first job that waits for memory, and the first that waits for cores, has what is free of it kept for it, so that
// small jobs cannot starve it: nobody behind it who needs any takes it, except a job whose time limit ends before the
// first one could start as the running jobs' time limits have it. Jobs that need none of it pass. A job that waits for
// cores also keeps the memory it needs, which it may have waited for: resources are collected in one order, so nobody
// waits for them in turns for ever. A full class or group holds up only itself; a job whose time has not come or whose
// dependencies are open holds up nobody.
[[nodiscard]] std::vector<PlanEntry> plan(const SchedulerInput& input);

}  // namespace mljobd::core
