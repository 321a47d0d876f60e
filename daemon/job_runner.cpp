#include "job_runner.hpp"

#include <algorithm>
#include <utility>

#include <sys/utsname.h>

#include "core/file_pattern.hpp"
#include "core/job_environment.hpp"
#include "core/unit_names.hpp"
#include "kernel/environment_file.hpp"
#include "kernel/process.hpp"
#include "log.hpp"

namespace mljobd {
namespace {

using systemd::ActiveState;

constexpr auto stop_retry_interval = std::chrono::seconds(1);

// Watching and unwatching cost the bus several calls: jobs that come one after the other should not pay for each.
constexpr auto watch_linger = std::chrono::milliseconds(1500);

core::PatternFacts pattern_facts(const core::Job& job, std::string_view host) {
  core::PatternFacts facts{.id = job.id, .name = job.spec.name, .user = job.owner_name, .host = host};
  if (job.array) {
    facts.array_id = job.array->array;
    facts.index = job.array->index;
  }
  return facts;
}

std::string host_name() {
  struct utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "localhost";
}

}  // namespace

JobRunner::JobRunner(systemd::EventLoop& loop, systemd::ServiceManager& manager, const kernel::JobLogs& logs,
                     const Paths& paths, Callbacks callbacks)
    : loop_(loop),
      manager_(manager),
      logs_(logs),
      paths_(paths),
      callbacks_(std::move(callbacks)),
      settle_timer_(loop.make_timer([this] { settle_pending(); })),
      linger_timer_(loop.make_timer([this] {
        if (live_.empty()) manager_.unwatch_units();
      })),
      stop_timer_(loop.make_timer([this] { stop_again(); })) {}

std::string JobRunner::cgroup_path(const std::string& below_manager) const {
  return paths_.cgroup_prefix + below_manager;
}

JobRunner::Live& JobRunner::enlist(const core::Job& job) {
  if (live_.empty()) {
    linger_timer_->disarm();
    manager_.watch_units();
  }
  Live& live = live_[job.id];
  live = Live{};
  live.attempt = job.attempt.number;
  live.unit = core::job_unit(job);
  live.slice = core::job_slice(job);
  return live;
}

JobRunner::Live* JobRunner::find(core::JobId id, std::uint32_t attempt) {
  const auto found = live_.find(id);
  return found != live_.end() && found->second.attempt == attempt ? &found->second : nullptr;
}

JobRunner::Live* JobRunner::find_unit(const std::string& unit, core::JobId& id) {
  const auto parsed = core::parse_job_unit(unit);
  if (!parsed) return nullptr;
  id = parsed->id;
  Live* live = find(parsed->id, parsed->attempt);
  return live != nullptr && live->unit == unit ? live : nullptr;
}

void JobRunner::start(const core::Job& job) {
  Live& live = enlist(job);
  const auto files = job_files(job);
  if (!files) return refuse(job.id, live, files.error());
  launch(job.id, systemd::job_request(job, callbacks_.settings(), callbacks_.cpus_for(job), *files, paths_.scope));
}

core::Expected<systemd::JobFiles> JobRunner::job_files(const core::Job& job) const {
  auto log_path = logs_.create(job.id, job.attempt.number);
  if (!log_path) return tl::unexpected(log_path.error());
  auto environment_file = kernel::write_environment_file(paths_.runtime_directory, job.id, job.attempt.number,
                                                         core::job_environment(job, callbacks_.cpu_allotment(job)));
  if (!environment_file) return tl::unexpected(environment_file.error());
  systemd::JobFiles files{
      .log_path = std::move(*log_path), .environment_file = std::move(*environment_file), .launcher = paths_.launcher};
  const std::string host = host_name();
  const auto facts = pattern_facts(job, host);
  auto output = core::expand_file_pattern(job.spec.output, facts);
  if (!output) return tl::unexpected(output.error());
  auto error = core::expand_file_pattern(job.spec.error, facts);
  if (!error) return tl::unexpected(error.error());
  files.output = std::move(*output);
  files.error = std::move(*error);
  return files;
}

void JobRunner::start_scope(const core::Job& job, std::vector<kernel::UniqueFd> pidfds, Done done) {
  Live& live = enlist(job);
  live.scope_done = std::move(done);
  for (const auto& pidfd : pidfds) {
    const auto process = kernel::inspect_pidfd(pidfd.get());
    if (!process) return refuse(job.id, live, process.error());
    live.pids.push_back(process->pid);
  }
  live.pidfds = std::move(pidfds);
  launch(job.id, systemd::scope_request(job, callbacks_.settings(), callbacks_.cpus_for(job), live.pids, paths_.scope));
}

void JobRunner::launch(core::JobId id, const systemd::UnitRequest& request) {
  const auto attempt = live_.at(id).attempt;
  manager_.start(
      request, [this, id, attempt](const core::Expected<std::string>& result) { start_answered(id, attempt, result); });
}

void JobRunner::start_answered(core::JobId id, std::uint32_t attempt, const core::Expected<std::string>& result) {
  Live* live = find(id, attempt);
  if (live == nullptr || live->reported) return;
  live->start_answered = true;
  if (!result) return refuse(id, *live, result.error());
  if (*result == "done") {
    if (live->ended) return settle(id);
    return has_ended_already(id, *live) ? await_end(id, *live) : became_running(id, *live);
  }
  live->start_failed = *result == "failed" || *result == "timeout" || *result == "dependency";
  if (live->ended) return settle(id);
  // It will not become active any more: inactive is its end.
  live->seen_active = true;
  refresh(id);
}

bool JobRunner::members_verified(const Live& live) const {
  // A scope can be reported as started while a process has left it or died (systemd issue 36781).
  return std::all_of(live.pids.begin(), live.pids.end(), [&](std::uint32_t pid) {
    const auto process = kernel::read_process(pid);
    return process && process->cgroup.ends_with("/" + live.unit);
  });
}

void JobRunner::became_running(core::JobId id, Live& live) {
  live.end_awaited = false;
  const core::Job* job = callbacks_.find_job(id);
  if (job == nullptr) return;
  look_at_limits(live, *job);
  if (job->spec.kind != core::JobKind::batch && !members_verified(live)) {
    const core::Error error{core::ErrorCode::service_manager,
                            "the process was not found in its scope after the start; it may have exited"};
    if (live.scope_done) std::exchange(live.scope_done, {})(tl::unexpected(error));
  }
  callbacks_.report(id, core::UnitsRunning{});
  if (live.scope_done) std::exchange(live.scope_done, {})({});
  live.pidfds.clear();
}

void JobRunner::refuse(core::JobId id, Live& live, const core::Error& error) {
  const core::Job* job = callbacks_.find_job(id);
  if (job == nullptr || live.reported) return;
  live.reported = true;
  const auto verdict = start_refused(*job, error);
  const auto done = std::exchange(live.scope_done, {});
  callbacks_.report(id, core::StartRefused{.verdict = verdict});
  if (done) done(tl::unexpected(error));
}

void JobRunner::stop(const core::Job& job) {
  // When the unit is gone already its end has been, or is being, reported by itself.
  manager_.stop(core::job_unit(job), [this, id = job.id](const core::Expected<std::string>& result) {
    if (!result) {
      log::warning("job " + std::to_string(id) +
                   ": stopping its unit failed and is tried again: " + result.error().message);
      unstopped_.push_back(id);
      stop_timer_->arm(loop_.now().boot + stop_retry_interval);
    }
    refresh(id);
  });
}

void JobRunner::stop_again() {
  for (const auto id : std::exchange(unstopped_, {})) {
    const core::Job* job = callbacks_.find_job(id);
    if (job != nullptr && std::holds_alternative<core::Stopping>(job->state)) stop(*job);
  }
  for (const auto id : std::exchange(unreleased_, {})) clear_away(id);
}

void JobRunner::thaw_then_stop(const core::Job& job) {
  manager_.thaw(core::job_slice(job), [this, id = job.id](const core::Expected<void>& result) {
    if (!result) log::warning("job " + std::to_string(id) + ": thawing it failed: " + result.error().message);
    if (const core::Job* found = callbacks_.find_job(id)) stop(*found);
  });
}

void JobRunner::release(const core::Job& job) {
  const auto found = live_.find(job.id);
  if (found == live_.end()) return;
  kernel::remove_environment_file(paths_.runtime_directory, job.id, found->second.attempt);
  clear_away(job.id);
}

void JobRunner::clear_away(core::JobId id) {
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  // Stopping the slice stops the unit that is kept in it as well: one transaction of PID 1 instead of two.
  manager_.stop(
      found->second.slice, [this, id, attempt = found->second.attempt](const core::Expected<std::string>& result) {
        Live* live = find(id, attempt);
        if (live == nullptr) return;
        if (!result) return release_refused(id, *live, result.error());
        const bool succeeded = live->status.active == ActiveState::active && live->status.sub_state == "exited";
        succeeded ? released(id) : forget_failure(id, *live);
      });
}

// A systemd that executes itself anew loses what it has not read: only an answer says that it has let go of the unit.
void JobRunner::forget_failure(core::JobId id, const Live& live) {
  manager_.reset_failed(live.unit, [this, id, attempt = live.attempt](const core::Expected<void>& result) {
    Live* cleared = find(id, attempt);
    if (cleared == nullptr) return;
    result ? released(id) : release_refused(id, *cleared, result.error());
  });
}

// Until PID 1 has let go of the names the job counts as running: a new attempt would be refused.
void JobRunner::release_refused(core::JobId id, Live& live, const core::Error& error) {
  if (!std::exchange(live.release_refused, true)) {
    log::warning("job " + std::to_string(id) + ": clearing its units away failed and is tried again: " + error.message);
  }
  unreleased_.push_back(id);
  stop_timer_->arm(loop_.now().boot + stop_retry_interval);
}

void JobRunner::released(core::JobId id) {
  live_.erase(id);
  if (live_.empty()) linger_timer_->arm(loop_.now().boot + watch_linger);
  callbacks_.released(id);
}

void JobRunner::resume(const core::Job& job, bool seen_active) {
  Live& live = enlist(job);
  live.start_answered = true;
  live.seen_active = seen_active;
  live.began = seen_active;
  look_at_limits(live, job);
  // A freeze or thaw may have been carried out without its answer having been heard.
  const bool frozen = live.cgroup && live.cgroup->frozen();
  if (frozen && std::holds_alternative<core::Running>(job.state)) callbacks_.report(job.id, core::FreezeDone{});
  if (!frozen && std::holds_alternative<core::Frozen>(job.state)) callbacks_.report(job.id, core::ThawDone{});
  if (!frozen && std::holds_alternative<core::Parked>(job.state)) found_awake(job);
  refresh(job.id);
}

// The park had not begun, or was over, when the earlier daemon died.
void JobRunner::found_awake(const core::Job& job) {
  core::Limits limits;
  limits.swap_max = job.spec.limits.swap_max.value_or(0);
  override_limits(job, limits, [](const core::Expected<void>&) {});
  callbacks_.report(job.id, core::UnparkDone{});
}

void JobRunner::refresh(core::JobId id) {
  const auto found = live_.find(id);
  if (found == live_.end() || found->second.reported) return;
  const auto attempt = found->second.attempt;
  manager_.get_status(found->second.unit, [this, id, attempt](const core::Expected<systemd::UnitStatus>& status) {
    Live* live = find(id, attempt);
    if (live == nullptr || live->reported) return;
    if (!status) {
      log::warning("job " + std::to_string(id) + ": asking systemd for its unit failed: " + status.error().message);
      return;
    }
    // One whose start PID 1 has not answered may not have been made yet: its answer will come.
    if (!status->loaded && !live->start_answered) return;
    if (!status->loaded && never_began(id, *live)) return start_again(id, *live);
    if (!status->loaded || (status->active == ActiveState::inactive && live->seen_active)) {
      // Gone: what an earlier signal said of the exit is all there will ever be.
      if (status->main_code != 0) live->status = *status;
      live->ended = true;
      return settle(id);
    }
    unit_changed(*status);
  });
}

// PID 1 may drop a start that waits while it executes itself anew. A unit that had begun would still be there
// (RemainAfterExit), or its slice would have used CPU.
bool JobRunner::never_began(core::JobId id, Live& live) const {
  const core::Job* job = callbacks_.find_job(id);
  if (job == nullptr || live.began || !std::holds_alternative<core::Starting>(job->state)) return false;
  if (job->spec.kind != core::JobKind::batch) return false;
  open_slice(live, *job);
  if (!live.cgroup) return true;
  const auto usage = live.cgroup->usage();
  return usage && usage->cpu_time == core::Microseconds{0};
}

void JobRunner::start_again(core::JobId id, Live& live) {
  live.reported = true;
  callbacks_.report(id, core::StartPostponed{});
  if (const core::Job* job = callbacks_.find_job(id)) release(*job);
}

std::vector<core::JobId> JobRunner::holders_of_units() const {
  std::vector<core::JobId> ids;
  ids.reserve(live_.size());
  for (const auto& [id, live] : live_) ids.push_back(id);
  return ids;
}

void JobRunner::refresh_all() {
  for (const auto id : holders_of_units()) refresh(id);
}

void JobRunner::freeze(const core::Job& job, Done done) { manager_.freeze(core::job_slice(job), std::move(done)); }

void JobRunner::thaw(const core::Job& job, Done done) { manager_.thaw(core::job_slice(job), std::move(done)); }

void JobRunner::signal(const core::Job& job, const std::string& who, int signal, Done done) {
  manager_.kill(core::job_unit(job), who, signal, std::move(done));
}

}  // namespace mljobd
