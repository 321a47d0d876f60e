// A machine that runs what the plans start, and checks every plan.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scheduler_workload.hpp"

namespace mljobd::core::simulation {

class Simulator {
 public:
  // A plan is made again with the jobs listed in another order, at one plan in so many.
  explicit Simulator(const Workload& workload, std::uint64_t shuffle_one_in = 1);

  // Until nothing can happen any more. The first thing that went wrong; empty when nothing did.
  [[nodiscard]] std::optional<std::string> run();

  [[nodiscard]] Microseconds makespan() const { return now_; }
  [[nodiscard]] std::size_t plans() const { return plans_; }
  [[nodiscard]] std::size_t started() const { return started_; }

 private:
  enum class Phase { to_come, waiting, running, finished };
  struct Record {
    Phase phase = Phase::to_come;
    bool has_started = false;
    Microseconds started{0};
    JobResult result = JobResult::lost;
  };

  [[nodiscard]] const SimulatedJob& simulated(JobId id) const { return workload_.jobs[id - 1]; }
  [[nodiscard]] KnownJob known(JobId id) const;
  [[nodiscard]] Microseconds ends(JobId id) const { return records_[id - 1].started + simulated(id).runs_for; }
  [[nodiscard]] std::optional<Microseconds> next_event() const;
  void arrive_and_end();
  [[nodiscard]] SchedulerInput input() const;
  bool plan_once();
  void check(const SchedulerInput& input, const std::vector<PlanEntry>& entries);
  void check_end(const std::vector<PlanEntry>& entries);
  void violate(JobId id, const std::string& what);

  const Workload& workload_;
  Random random_;
  std::uint64_t shuffle_one_in_;
  std::vector<Record> records_;
  std::vector<JobId> waiting_;  // in order of submission
  std::vector<JobId> running_;
  std::vector<JobId> ended_;
  std::size_t arrived_ = 0;
  std::size_t plans_ = 0;
  std::size_t started_ = 0;
  Microseconds now_{0};
  std::vector<PlanEntry> last_plan_;
  std::optional<std::string> violation_;
};

}  // namespace mljobd::core::simulation
