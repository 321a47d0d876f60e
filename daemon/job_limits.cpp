// The runner's part that has to do with limits and usage: changed while a job runs, read back, compared with what was
// asked for.
#include <utility>

#include "core/format.hpp"
#include "core/unit_names.hpp"
#include "job_runner.hpp"
#include "log.hpp"

namespace mljobd {

void JobRunner::open_slice(Live& live, const core::Job& job) const {
  if (live.cgroup) return;
  auto cgroup = kernel::Cgroup::open(paths_.cgroup_root, cgroup_path(core::job_slice_cgroup(job)));
  if (cgroup) live.cgroup = std::move(*cgroup);
}

// Of a job that has just begun to run, or is found running.
void JobRunner::look_at_limits(Live& live, const core::Job& job) {
  open_slice(live, job);
  if (!live.cgroup) return;
  const auto in_force = live.cgroup->effective_limits();
  compare_limits(live, job, in_force);
  correct_cpus(job, in_force.cpu_list);
}

void JobRunner::compare_limits(Live& live, const core::Job& job, const core::EffectiveLimits& in_force) const {
  live.warnings = core::limit_warnings(job.spec, core::find_class(callbacks_.settings(), job.spec.class_name),
                                       callbacks_.cpus_for(job), in_force);
}

void JobRunner::set_limits(const core::Job& job, const core::Limits& changes, Done done) {
  manager_.set_properties(core::job_slice(job), systemd::changed_slice_properties(changes),
                          [this, id = job.id, done = std::move(done)](const core::Expected<void>& result) {
                            // What was asked for is the job's only once this has been heard.
                            done(result);
                            const auto found = live_.find(id);
                            const core::Job* changed = callbacks_.find_job(id);
                            if (found == live_.end() || changed == nullptr || !found->second.cgroup) return;
                            compare_limits(found->second, *changed, found->second.cgroup->effective_limits());
                          });
}

void JobRunner::override_limits(const core::Job& job, const core::Limits& limits, Done done) {
  manager_.set_properties(core::job_slice(job), systemd::changed_slice_properties(limits), std::move(done));
}

void JobRunner::set_memory_low(const std::string& slice, core::Bytes amount, Done done) {
  manager_.set_properties(slice, {systemd::memory_low(amount)}, std::move(done));
}

core::Bytes JobRunner::memory_low(const std::string& slice_cgroup) const {
  const auto cgroup = kernel::Cgroup::open(paths_.cgroup_root, cgroup_path(slice_cgroup));
  return cgroup ? cgroup->memory_low().value_or(0) : 0;
}

core::Limits JobRunner::usual_weights(const core::Job& job) {
  core::Limits limits;
  limits.cpu_weight = job.spec.limits.cpu_weight.value_or(systemd::default_weight);
  limits.io_weight = job.spec.limits.io_weight.value_or(systemd::default_weight);
  return limits;
}

void JobRunner::kill_now(const core::Job& job) {
  const auto found = live_.find(job.id);
  if (found == live_.end()) return;
  open_slice(found->second, job);
  // Not through PID 1, which may be the one that waits for memory.
  if (found->second.cgroup) {
    const auto killed = found->second.cgroup->kill_all();
    if (killed) return;
    log::warning("job " + std::to_string(job.id) + ": " + killed.error().message);
  }
  thaw_then_stop(job);
}

void JobRunner::set_cpus(const core::Job& job, const core::CpuList& cpus) {
  const auto live = live_.find(job.id);
  // A job that is only starting is looked at once it runs. To name a slice that PID 1 does not have, or not yet, would
  // make it load one, and the drop-in of such a slice outlives the job and beats, after a reload, what is set later.
  if (live == live_.end() || live->second.reported || !live->second.cgroup) return;
  // An empty list would lift nothing as long as another job of the class has one: systemd 252 then leaves the cpuset
  // controller on, and no longer writes to it for this job.
  manager_.set_properties(
      core::job_slice(job), {systemd::allowed_cpus(cpus.empty() ? callbacks_.all_cpus() : cpus)},
      [this, id = job.id](const core::Expected<void>& result) {
        const auto found = live_.find(id);
        const core::Job* changed = callbacks_.find_job(id);
        if (found == live_.end() || changed == nullptr) return;
        if (!result) {
          log::warning("job " + std::to_string(id) + ": moving it to other CPUs failed: " + result.error().message);
        }
        if (found->second.cgroup) compare_limits(found->second, *changed, found->second.cgroup->effective_limits());
      });
}

// The partition may have changed while the job was starting, or the daemon died before it told PID 1 of a change.
void JobRunner::correct_cpus(const core::Job& job, const std::optional<std::string>& in_force) {
  const auto meant = callbacks_.cpus_for(job);
  const bool differs =
      in_force ? core::parse_cpu_list(*in_force) != (meant.empty() ? callbacks_.all_cpus() : meant) : !meant.empty();
  if (differs) set_cpus(job, meant);
}

core::Usage JobRunner::usage(const core::Job& job) const {
  const auto found = live_.find(job.id);
  if (found == live_.end() || !found->second.cgroup) return job.attempt.usage;
  return found->second.cgroup->usage().value_or(job.attempt.usage);
}

core::EffectiveLimits JobRunner::effective_limits(const core::Job& job) const {
  const auto found = live_.find(job.id);
  if (found == live_.end() || !found->second.cgroup) return {};
  return found->second.cgroup->effective_limits();
}

std::vector<std::string> JobRunner::warnings(const core::Job& job) const {
  const auto found = live_.find(job.id);
  return found == live_.end() ? std::vector<std::string>{} : found->second.warnings;
}

std::optional<core::Bytes> JobRunner::memory_now(core::JobId id) const {
  const auto found = live_.find(id);
  if (found == live_.end() || !found->second.cgroup) return std::nullopt;
  const auto usage = found->second.cgroup->usage();
  if (!usage) return std::nullopt;
  return usage->memory_current;
}

std::uint64_t JobRunner::local_oom_count(const std::string& below_manager) const {
  const auto cgroup = kernel::Cgroup::open(paths_.cgroup_root, cgroup_path(below_manager));
  if (!cgroup) return 0;
  const auto events = cgroup->memory_events_local();
  return events ? events->oom : 0;
}

std::uint64_t JobRunner::class_oom_count(const std::string& class_name) const {
  return local_oom_count(core::class_slice_cgroup(class_name));
}

std::uint64_t JobRunner::total_oom_count() const { return local_oom_count(std::string(core::root_slice)); }

}  // namespace mljobd
