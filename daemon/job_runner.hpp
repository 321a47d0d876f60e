// Does what the state machine decided: starts, stops, freezes and releases the units of jobs through PID 1, notices
// their end, reads the evidence, and reports each outcome as an event. Decides nothing about a job.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cpu_topology.hpp"
#include "core/death_cause.hpp"
#include "core/job.hpp"
#include "core/lifecycle.hpp"
#include "core/limit_check.hpp"
#include "core/settings.hpp"
#include "core/worker_advice.hpp"
#include "evidence.hpp"
#include "kernel/cgroup_reader.hpp"
#include "kernel/job_logs.hpp"
#include "kernel/unique_fd.hpp"
#include "paths.hpp"
#include "systemd/event_loop.hpp"
#include "systemd/service_manager.hpp"
#include "systemd/unit_properties.hpp"

namespace mljobd {

class JobRunner {
 public:
  struct Callbacks {
    std::function<const core::Job*(core::JobId)> find_job;
    std::function<void(core::JobId, core::JobEvent)> report;
    std::function<void(core::JobId)> released;  // its unit names may be used again
    std::function<const core::Settings&()> settings;
    std::function<core::CpuList(const core::Job&)> cpus_for;  // empty: no restriction
    std::function<core::CpuList()> all_cpus;                  // what no restriction comes to
    std::function<core::CpuAllotment(const core::Job&)> cpu_allotment;
  };
  using Done = systemd::ServiceManager::Done;

  JobRunner(systemd::EventLoop& loop, systemd::ServiceManager& manager, const kernel::JobLogs& logs, const Paths& paths,
            Callbacks callbacks);

  void start(const core::Job& job);
  // The pids are blocked, or ran already; the pidfds keep them from being recycled until the scope has them.
  void start_scope(const core::Job& job, std::vector<kernel::UniqueFd> pidfds, Done done);
  void stop(const core::Job& job);
  void thaw_then_stop(const core::Job& job);
  void release(const core::Job& job);
  // Takes up a job that an earlier daemon started; its reports come as for one of our own. `seen_active`: its start
  // was carried out, so that an inactive unit means its end.
  void resume(const core::Job& job, bool seen_active);

  void freeze(const core::Job& job, Done done);
  void thaw(const core::Job& job, Done done);
  void signal(const core::Job& job, const std::string& who, int signal, Done done);
  void set_limits(const core::Job& job, const core::Limits& changes, Done done);
  // For a while, against what was asked for: no reason for a warning.
  void override_limits(const core::Job& job, const core::Limits& limits, Done done);
  // Of a job's slice, or of one above it, that PID 1 has.
  void set_memory_low(const std::string& slice, core::Bytes amount, Done done);
  // What an earlier daemon may have left there; 0 where it cannot be told.
  [[nodiscard]] core::Bytes memory_low(const std::string& slice_cgroup) const;
  // What its slice has when nothing is overridden.
  [[nodiscard]] static core::Limits usual_weights(const core::Job& job);
  // SIGKILL to everything in its slice, frozen or not.
  void kill_now(const core::Job& job);
  // Of a job that runs, nothing for another; empty lifts the restriction.
  void set_cpus(const core::Job& job, const core::CpuList& cpus);
  void report_exit(core::JobId id, core::ProcessExit exit);

  // From PID 1.
  void unit_changed(const systemd::UnitStatus& status);
  void unit_removed(const std::string& unit);
  // After PID 1 reloaded or came back, signals may be missing: ask for every live unit.
  void refresh_all();

  [[nodiscard]] bool holds_units(core::JobId id) const { return live_.contains(id); }
  [[nodiscard]] bool holds_any_units() const { return !live_.empty(); }
  [[nodiscard]] std::vector<core::JobId> holders_of_units() const;
  [[nodiscard]] core::Usage usage(const core::Job& job) const;
  [[nodiscard]] core::EffectiveLimits effective_limits(const core::Job& job) const;
  [[nodiscard]] std::vector<std::string> warnings(const core::Job& job) const;
  // How often the limits above the job have fired so far: the baseline of an attempt.
  [[nodiscard]] std::uint64_t class_oom_count(const std::string& class_name) const;
  [[nodiscard]] std::uint64_t total_oom_count() const;
  [[nodiscard]] std::optional<core::Bytes> memory_now(core::JobId id) const;

 private:
  struct Live {
    std::uint32_t attempt = 0;
    std::string unit{};
    std::string slice{};
    systemd::UnitStatus status{};
    std::optional<kernel::Cgroup> cgroup{};
    bool start_answered = false;
    bool start_failed = false;
    bool seen_active = false;
    bool began = false;  // its program was seen to exist, however briefly
    bool ended = false;
    bool end_awaited = false;  // it has begun, which is not reported yet
    bool reported = false;
    bool release_refused = false;
    std::uint32_t settle_rounds = 0;
    std::vector<kernel::UniqueFd> pidfds{};
    std::vector<std::uint32_t> pids{};
    Done scope_done{};
    std::optional<core::ProcessExit> exit_reported{};
    std::vector<std::string> warnings{};
  };

  Live& enlist(const core::Job& job);
  void found_awake(const core::Job& job);
  Live* find(core::JobId id, std::uint32_t attempt);
  Live* find_unit(const std::string& unit, core::JobId& id);
  [[nodiscard]] core::Expected<systemd::JobFiles> job_files(const core::Job& job) const;
  void launch(core::JobId id, const systemd::UnitRequest& request);
  void start_answered(core::JobId id, std::uint32_t attempt, const core::Expected<std::string>& result);
  void open_slice(Live& live, const core::Job& job) const;
  void look_at_limits(Live& live, const core::Job& job);
  void compare_limits(Live& live, const core::Job& job, const core::EffectiveLimits& in_force) const;
  void correct_cpus(const core::Job& job, const std::optional<std::string>& in_force);
  void became_running(core::JobId id, Live& live);
  void refuse(core::JobId id, Live& live, const core::Error& error);
  void refresh(core::JobId id);
  [[nodiscard]] bool never_began(core::JobId id, Live& live) const;
  void start_again(core::JobId id, Live& live);
  void look_at(core::JobId id, Live& live);
  void settle(core::JobId id);
  void settle_soon(core::JobId id);
  void settle_pending();
  void stop_again();
  void clear_away(core::JobId id);
  void forget_failure(core::JobId id, const Live& live);
  void release_refused(core::JobId id, Live& live, const core::Error& error);
  void released(core::JobId id);
  [[nodiscard]] bool has_ended_already(core::JobId id, Live& live) const;
  void await_end(core::JobId id, Live& live);
  [[nodiscard]] bool members_verified(const Live& live) const;
  [[nodiscard]] std::string cgroup_path(const std::string& below_manager) const;
  [[nodiscard]] std::uint64_t local_oom_count(const std::string& below_manager) const;

  systemd::EventLoop& loop_;
  systemd::ServiceManager& manager_;
  const kernel::JobLogs& logs_;
  const Paths& paths_;
  Callbacks callbacks_;
  EvidenceCollector evidence_;
  std::map<core::JobId, Live> live_;
  std::vector<core::JobId> settling_;
  std::unique_ptr<systemd::EventLoop::Timer> settle_timer_;
  std::unique_ptr<systemd::EventLoop::Timer> linger_timer_;
  std::vector<core::JobId> unstopped_;  // to be tried again, as are the next
  std::vector<core::JobId> unreleased_;
  std::unique_ptr<systemd::EventLoop::Timer> stop_timer_;
};

}  // namespace mljobd
