// Watches the memory of the machine and of the jobs while any run, asks the pressure policy, and has done what it
// decides: slows a job down, parks it in swap, ends it, and gives back what was taken. Decides nothing itself. What it
// sees it also shows to the watch over growth, whose news go to the manager.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/job.hpp"
#include "core/pressure_policy.hpp"
#include "core/top_protection.hpp"
#include "growth_watch.hpp"
#include "job_runner.hpp"
#include "kernel/cgroup_sampler.hpp"
#include "kernel/machine_sampler.hpp"
#include "kernel/memory_reclaimer.hpp"
#include "kernel/pressure_trigger.hpp"
#include "paths.hpp"
#include "systemd/event_loop.hpp"

namespace mljobd {

class JobManager;

class PressureGuard {
 public:
  // Throws std::system_error when there is no thread or descriptor for moving memory out.
  PressureGuard(systemd::EventLoop& loop, JobManager& manager, JobRunner& runner, const Paths& paths);

  // Takes up what an earlier daemon did, once it is known which jobs run. `state` is of this boot, or empty.
  void begin(const core::PressureState& state);
  // New thresholds; what was done under the old ones is given back or continued.
  void apply_settings();
  // A job began or ended, or one waits for memory that somebody else has.
  void jobs_changed();
  // What was decided is on disk: do it.
  void act();
  // Of a job that is on record as parked: freezes it and moves its memory out.
  void park(const core::Job& job);
  // Answers when it runs again.
  void unpark(const core::Job& job, JobRunner::Done done);

  [[nodiscard]] std::uint32_t level() const { return policy_.level(); }
  [[nodiscard]] bool admission_stopped() const;
  // Whether a job that had to give way and needs so much could go on now, with a margin. Looks at the machine.
  [[nodiscard]] bool has_room_for(core::Bytes memory) const;
  // Swap that is free; 0 where there is none.
  [[nodiscard]] core::Bytes swap_free() const;
  [[nodiscard]] core::PressureState state() const { return policy_.state(); }
  [[nodiscard]] std::optional<core::Forecast> forecast(const core::Job& job) const { return growth_.forecast(job); }

 private:
  struct Sampled {
    std::uint32_t attempt = 0;
    kernel::CgroupSampler sampler;
  };

  void step();
  [[nodiscard]] core::PressureSnapshot look();
  [[nodiscard]] core::PressureJob look_at(const core::Job& job);
  [[nodiscard]] core::CgroupMemory memory_of(const core::Job& job);
  void watch_growth(const core::PressureSnapshot& snapshot);
  void arm_trigger();
  void rest();
  void protect(const core::PressureSnapshot& seen);
  void find_protected();
  [[nodiscard]] core::Bytes administrators_low(const std::string& slice);
  void execute(const core::Decision& decision);
  void execute(core::JobId id, const core::Throttle& action);
  void execute(core::JobId id, const core::Unthrottle& action);
  void execute(core::JobId id, const core::Park& action, const std::string& reason);
  void execute(core::JobId id, const core::Unpark& action);
  void execute(core::JobId id, const core::Kill& action);
  void execute(core::JobId id, const core::ReleaseHigh& action);
  void override_limits(core::JobId id, const core::Limits& limits, core::ActionOutcome::What what);
  [[nodiscard]] JobRunner::Done reporting(core::JobId id, core::ActionOutcome::What what);
  void move_out(const core::Job& job);
  void give_up_park(core::JobId id, const std::string& why);
  void reclaim_reports();
  void reclaim_ended(const kernel::ReclaimReport& report);
  void cancel_move(core::JobId id);

  systemd::EventLoop& loop_;
  JobManager& manager_;
  JobRunner& runner_;
  const Paths& paths_;
  core::PressurePolicy policy_;
  GrowthWatch growth_;
  core::TopProtection protection_;
  std::map<std::string, core::Bytes> administrators_low_;  // of slices above jobs, before ours
  core::PressureDecisions pending_;                        // decided, not on disk yet
  bool admission_stopped_ = false;                         // as the manager was told
  std::optional<kernel::MachineSampler> machine_;
  std::optional<kernel::CgroupSampler> jobs_slice_;
  std::map<core::JobId, Sampled> samplers_;
  std::unique_ptr<systemd::EventLoop::Timer> timer_;
  std::optional<kernel::PressureTrigger> trigger_;
  bool trigger_alive_ = false;  // its cgroup is still there
  std::unique_ptr<systemd::EventLoop::Watch> trigger_watch_;
  kernel::MemoryReclaimer reclaimer_;
  std::unique_ptr<systemd::EventLoop::Watch> reclaimer_watch_;
  std::map<kernel::ReclaimId, core::JobId> moves_;  // 0: of a job that is not to be parked any more
};

}  // namespace mljobd
