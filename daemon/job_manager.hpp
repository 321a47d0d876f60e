// The one owner of mutable state: every job that has not been forgotten, the queue, the settings in force.
// Requests and reports come in as events; core decides; the change is made durable; then it is announced and acted on.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cpu_partition.hpp"
#include "core/cpu_topology.hpp"
#include "core/forecast.hpp"
#include "core/growth_report.hpp"
#include "core/job.hpp"
#include "core/lifecycle.hpp"
#include "core/plan_preview.hpp"
#include "core/pressure_policy.hpp"
#include "core/resources.hpp"
#include "core/sample_ring.hpp"
#include "core/scheduler.hpp"
#include "core/settings.hpp"
#include "core/spec_validation.hpp"
#include "core/value.hpp"
#include "core/worker_advice.hpp"
#include "job_registry.hpp"
#include "job_runner.hpp"
#include "kernel/job_logs.hpp"
#include "kernel/machine.hpp"
#include "sample_recorder.hpp"
#include "store/store.hpp"
#include "systemd/event_loop.hpp"

namespace mljobd {

class PressureGuard;

// Who asks, as the bus says.
struct Caller {
  core::UserId uid = 0;
  std::string connection{};  // unique bus name
  bool privileged = false;   // root; for a user's own daemon, that user
};

struct StateChange {
  core::JobId id = 0;
  std::string old_state{};  // empty: the job is new
  std::string new_state{};
  std::string reason{};
};

// What became known about the memory of a job that grows.
struct GrowthEvent {
  core::JobId id = 0;
  core::GrowthNews news = core::GrowthNews::growing;
  core::Forecast forecast{};
};

// Told of changes after they are durable; the bus front end. Of what a turn has done to a job it is told once, as it is
// now, and then of each step on the way.
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void job_added(const core::Job& job) = 0;
  virtual void job_recalled(const core::Job& job) = 0;  // from the history: not new, but in memory again
  virtual void job_changed(const core::Job& job, std::size_t steps) = 0;
  virtual void state_changed(const core::Job& job, const StateChange& change) = 0;
  virtual void details_changed(const core::Job& job) = 0;
  virtual void job_forgotten(core::JobId id) = 0;
  virtual void counts_changed() = 0;
  virtual void service_state_changed() = 0;
  virtual void decided(const core::Decision& decision) = 0;
  virtual void pressure_changed(std::uint32_t level, const core::ValueMap& details) = 0;
  virtual void forecast_changed(const core::Job& job) = 0;
  virtual void growth_seen(const core::Job& job, const GrowthEvent& event) = 0;
};

struct Counts {
  std::uint32_t queued = 0;
  std::uint32_t running = 0;
  std::uint64_t finished = 0;
};

struct Progress {
  double fraction = -1;  // 0..1; -1 = unknown
  std::string message{};
};

// A job that there is not: `id` is the one that it would get if nobody came in between.
struct PlannedJob {
  core::JobId id = 0;
  std::string name{};
  std::optional<std::uint32_t> array_index{};
  std::optional<core::RealTime> start{};  // at the latest; empty: nobody can tell
  std::string reason{};                   // why not at once; empty: it would start at once
};

class JobManager {
 public:
  using Reply = std::function<void(core::Expected<core::JobId>)>;
  using Done = std::function<void(core::Expected<void>)>;
  using ManyReply = std::function<void(core::Expected<std::vector<core::JobId>>)>;

  JobManager(systemd::EventLoop& loop, store::Store& store, const kernel::JobLogs& logs, kernel::Machine machine,
             core::Settings settings);

  // The runner and the observer know the manager and are built after it; both outlive every call.
  void connect(JobRunner& runner, PressureGuard& guard, JobObserver& observer);
  // Takes over what the store knows. Until begin() nothing is started.
  [[nodiscard]] core::Expected<void> load();
  void begin();

  // --- Requests. A Reply or Done is called exactly once, after the change is durable or refused.
  // An array answers with the id of its first job; a key that is known, with the job that has it.
  void submit(const Caller& caller, const core::ValueMap& spec, bool dry_run, Reply reply);
  // All or none. Specifications name each other in `after`; the answer has the first id of each.
  void submit_pipeline(const Caller& caller, const std::vector<core::ValueMap>& specs, bool dry_run, ManyReply reply);
  // What would become of such a pipeline, or single job, if it were submitted now. Nothing is stored.
  [[nodiscard]] core::Expected<std::vector<PlannedJob>> preview(const Caller& caller,
                                                                const std::vector<core::ValueMap>& specs);
  void start_foreground(const Caller& caller, core::JobKind kind, std::vector<kernel::UniqueFd> pidfds,
                        core::ValueMap spec, Reply reply);
  [[nodiscard]] core::Expected<void> cancel(const Caller& caller, core::JobId id);
  [[nodiscard]] core::Expected<void> hold(const Caller& caller, core::JobId id);
  [[nodiscard]] core::Expected<void> release(const Caller& caller, core::JobId id);
  [[nodiscard]] core::Expected<void> requeue(const Caller& caller, core::JobId id);
  void freeze(const Caller& caller, core::JobId id, Done done);
  void thaw(const Caller& caller, core::JobId id, Done done);
  // Answered when it is on record, with the memory on its way out; when it runs again.
  void park(const Caller& caller, core::JobId id, Done done);
  void unpark(const Caller& caller, core::JobId id, Done done);
  void signal(const Caller& caller, core::JobId id, const std::string& who, int signal, Done done);
  void set_limits(const Caller& caller, core::JobId id, const core::ValueMap& changes, Done done);
  [[nodiscard]] core::Expected<void> report_progress(const Caller& caller, core::JobId id, Progress progress);
  [[nodiscard]] core::Expected<void> report_exit(const Caller& caller, core::JobId id, core::ProcessExit exit);
  [[nodiscard]] core::Expected<void> set_draining(const Caller& caller, bool draining);
  void apply_settings(core::Settings settings);

  // --- What is known.
  [[nodiscard]] const core::Job* find(core::JobId id) const;  // in memory: unfinished, and finished a while ago
  // From memory, else from the history into memory. Errors: no_such_job, storage.
  [[nodiscard]] core::Expected<const core::Job*> recall(core::JobId id);
  // Newest first; valid until the next change.
  struct Listed {
    std::vector<const core::Job*> jobs{};
    std::vector<core::Job> history{};  // those of them that are not in memory
  };
  [[nodiscard]] core::Expected<Listed> list(const store::JobFilter& filter) const;
  [[nodiscard]] core::Expected<core::ValueMap> specification(const Caller& caller, core::JobId id);
  [[nodiscard]] core::Expected<kernel::UniqueFd> open_log(const Caller& caller, core::JobId id, std::uint32_t attempt);
  // Oldest first. Errors: no_such_job, not_authorized, storage.
  [[nodiscard]] core::Expected<std::vector<core::JobSample>> samples(const Caller& caller, core::JobId id);
  [[nodiscard]] const core::Settings& settings() const { return settings_; }
  [[nodiscard]] const std::map<core::JobId, core::Job>& jobs() const { return jobs_.all(); }
  [[nodiscard]] const JobRegistry::View& active_jobs() const { return jobs_.active(); }
  [[nodiscard]] std::uint32_t pressure_level() const;
  [[nodiscard]] Counts counts() const;
  // Of unfinished jobs only; classes without any are left out.
  [[nodiscard]] std::map<std::string, Counts> counts_by_class() const;
  [[nodiscard]] core::MemoryAccount memory() const;
  [[nodiscard]] const core::CpuTopology& topology() const { return machine_.topology; }
  // The CPUs that jobs which hold units have for themselves.
  [[nodiscard]] core::CoreAllocations core_allocations() const;
  // What the job runs on now, or would if it started now.
  [[nodiscard]] core::CpuAllotment cpu_allotment(const core::Job& job) const;
  // The logical CPUs that its slice is to be kept on; empty: no restriction.
  [[nodiscard]] core::CpuList cpus_for(const core::Job& job) const;
  // For so many trainings side by side, with their data in this directory. Errors: invalid_spec.
  [[nodiscard]] core::Expected<core::Advice> advise(std::uint32_t jobs, const std::string& directory) const;
  // From what the job did. Where its data is, is told to its owner and root only. Errors: no_such_job, storage.
  [[nodiscard]] core::Expected<core::Advice> advise(const Caller& caller, core::JobId id);
  [[nodiscard]] Progress progress(core::JobId id) const;
  // Where its memory is going, as a dictionary; empty for one that does not run.
  [[nodiscard]] core::ValueMap forecast(const core::Job& job) const;
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] std::vector<std::string> problems() const;
  void set_problem(const std::string& key, const std::string& sentence);  // an empty sentence clears it
  [[nodiscard]] core::Now now() const { return loop_.now(); }

  // --- Reports of the runner and of the reconciler.
  void handle(core::JobId id, const core::JobEvent& event);
  void units_released(core::JobId id);
  // Of the pressure guard, which does them when it is told to act.
  void record(const core::PressureDecisions& decisions);
  void record_samples(const core::PressureSnapshot& look);
  // What is not written yet, before the daemon ends.
  void write_samples() { samples_.write(); }
  void admission_changed();
  void forecast_changed(core::JobId id);
  void growth_seen(core::JobId id, const std::vector<core::GrowthNews>& news);
  void reserve_id(core::JobId id);  // units of this id exist, though no record does: never give it out again

 private:
  // How often what could not be written is tried again.
  static constexpr auto room_interval = std::chrono::seconds(2);  // how often jobs that gave way look for memory
  static constexpr const char* pressure_state_name = "pressure";
  static constexpr auto storage_retry_interval = std::chrono::seconds(2);

  struct PendingAction {
    core::JobId id = 0;
    core::JobAction action{};
  };
  struct ForegroundStart {
    std::string connection{};
    std::vector<kernel::UniqueFd> pidfds{};
    Reply reply{};
  };

  using FindJobs = std::function<core::Expected<std::vector<core::JobId>>(const std::string& reference)>;
  struct ValidJob {
    core::JobSpec spec{};
    core::JobId first_id = 0;
  };

  [[nodiscard]] core::ValidationContext validation_context(const Caller& caller, core::JobKind kind,
                                                           FindJobs find_jobs = {}) const;
  [[nodiscard]] core::Expected<std::vector<core::JobId>> find_jobs(const Caller& caller, const std::string& reference);
  [[nodiscard]] core::Expected<std::vector<core::JobId>> jobs_of_array(core::JobId id);
  [[nodiscard]] std::vector<core::JobId> whole_submissions(const std::vector<core::JobId>& some) const;
  [[nodiscard]] core::Expected<std::vector<ValidJob>> validate_pipeline(const Caller& caller,
                                                                        const std::vector<core::ValueMap>& specs);
  [[nodiscard]] core::Expected<void> check_quota(const Caller& caller, std::size_t jobs = 1) const;
  [[nodiscard]] std::optional<core::JobId> job_with_key(const Caller& caller, const std::string& key) const;
  void learn_memory(const Caller& caller, core::JobSpec& spec) const;
  [[nodiscard]] core::Expected<void> check_room_for_output() const;
  [[nodiscard]] core::Expected<core::Job*> owned(const Caller& caller, core::JobId id);
  [[nodiscard]] core::Expected<core::Job*> owned_and_ready(const Caller& caller, core::JobId id,
                                                           const core::JobEvent& event);
  [[nodiscard]] core::Expected<void> request(const Caller& caller, core::JobId id, const core::JobEvent& event);
  [[nodiscard]] core::Expected<void> check_start_now(const core::JobSpec& spec) const;
  core::Expected<core::Job*> add_job(const Caller& caller, core::JobSpec spec,
                                     const std::optional<core::ArrayPlace>& place = {});
  // As many jobs as the submission stands for. The first.
  core::Expected<core::JobId> add_jobs(const Caller& caller, core::JobSpec spec);
  [[nodiscard]] static std::vector<core::ArrayPlace> places(const core::ArrayIndices& array, core::JobId first);
  [[nodiscard]] std::vector<core::Job> tried_jobs(const Caller& caller, std::vector<ValidJob> valid,
                                                  std::size_t count) const;
  [[nodiscard]] core::PreviewInput preview_input(const std::vector<core::Job>& tried, std::deque<std::string>& groups);
  void admit(core::Job& job);
  [[nodiscard]] core::Expected<void> transition(core::Job& job, const core::JobEvent& event);
  void handle_end(core::JobId id, core::Ended event);  // decides on a retry
  void note_change(core::Job& job, const std::string& old_state);
  void schedule_flush();
  void flush();
  void plan();
  void plan_when_due();
  void look_again_for_memory();
  // Without a waiting job. Both keep the names of groups in `groups`, which has to live as long.
  [[nodiscard]] core::SchedulerInput what_runs(std::deque<std::string>& groups) const;
  [[nodiscard]] core::SchedulerInput scheduler_input(std::deque<std::string>& groups);
  [[nodiscard]] core::RunningJob running_job(const core::Job& job, std::deque<std::string>& groups) const;
  [[nodiscard]] core::WaitingJob waiting_job(const core::Job& job, std::deque<std::string>& groups);
  [[nodiscard]] core::KnownJob known_job(core::JobId id);
  [[nodiscard]] core::Bytes memory_bound(const core::Job& job) const;
  bool carry_out(const core::PlanEntry& entry);
  [[nodiscard]] core::Limits limits_in_force(const core::Job& job, const core::JobSpec& spec,
                                             core::Limits change) const;
  [[nodiscard]] core::CpuList shared_beside(const core::CoreAllocations& allocations) const;
  [[nodiscard]] core::PressureState stored_pressure_state() const;
  void divide_cpus();
  void restore_cores();
  [[nodiscard]] bool persist();
  void persist_failed(const core::Error& error);
  void answer();
  void announce(const std::vector<StateChange>& changes);
  void announce_decisions();
  void announce_growth();
  // What brooks no delay (starts, and signals to save one's work), and all else.
  std::pair<std::vector<PendingAction>, std::vector<PendingAction>> take_actions();
  void act(const std::vector<PendingAction>& actions);
  void execute(const PendingAction& pending);
  void warn(const core::Job& job);
  void checkpoint(const core::Job& job);
  void save_before_limit(core::Job& job);
  void record_checkpoint(const core::Job& job);
  void arm_deadlines();
  void deadlines_reached();
  void sample();
  void prune_history();
  void keep_finished(core::JobId id);
  void forget_unused();
  void forget(core::JobId id);

  systemd::EventLoop& loop_;
  store::Store& store_;
  const kernel::JobLogs& logs_;
  kernel::Machine machine_;
  core::Settings settings_;
  JobRunner* runner_ = nullptr;
  PressureGuard* guard_ = nullptr;
  JobObserver* observer_ = nullptr;

  JobRegistry jobs_;
  std::unordered_map<core::JobId, core::KnownJob> known_jobs_;  // of the history, that others wait for
  core::CpuList shared_cpus_;                                   // in force; empty: nobody has reserved any
  std::deque<core::JobId> finished_;                            // in memory, the longest unused first
  std::map<core::JobId, Progress> progress_;
  std::map<core::JobId, ForegroundStart> foreground_;
  core::JobId last_id_ = 0;
  std::uint64_t finished_count_ = 0;
  bool draining_ = false;
  std::map<std::string, std::string> problems_;

  bool started_ = false;
  bool replan_ = false;
  bool storage_failing_ = false;
  std::optional<bool> draining_change_;
  std::set<core::JobId> dirty_;
  std::set<core::JobId> submitted_;  // dirty ones that are not in the store yet
  std::set<core::JobId> reason_changed_;
  std::set<core::JobId> forecast_changed_;
  std::vector<GrowthEvent> growth_;  // not announced yet
  std::vector<store::EventRecord> events_;
  std::vector<StateChange> announcements_;  // of this turn
  core::PressureDecisions decisions_;       // not announced yet
  std::optional<std::string> pressure_state_;
  std::vector<PendingAction> actions_;
  std::vector<std::pair<core::JobId, Reply>> replies_;
  std::unique_ptr<systemd::EventLoop::Deferred> flush_;
  std::unique_ptr<systemd::EventLoop::Timer> retry_timer_;
  std::unique_ptr<systemd::EventLoop::Timer> deadline_timer_;
  std::unique_ptr<systemd::EventLoop::Timer> plan_timer_;
  std::unique_ptr<systemd::EventLoop::Timer> room_timer_;
  core::BootTime next_plan_{};
  std::optional<core::RealTime> next_begin_;  // of the jobs that only wait for their time
  std::unique_ptr<systemd::EventLoop::Timer> sample_timer_;
  SampleRecorder samples_;
};

}  // namespace mljobd
