// The runner's part that has to do with the end of a job: noticed by what PID 1 says of its unit, explained by what is
// left of it.
#include <utility>

#include "core/unit_names.hpp"
#include "job_runner.hpp"
#include "log.hpp"

namespace mljobd {
namespace {

using systemd::ActiveState;

// The kernel's and PID 1's records reach the journal a little after the fact.
constexpr auto settle_interval = std::chrono::milliseconds(100);
constexpr std::uint32_t journal_rounds = 10;
// A foreground job's client reports the exit right after the scope is empty, unless it died.
constexpr std::uint32_t exit_report_rounds = 20;

bool has_ended(const systemd::UnitStatus& status, bool seen_active) {
  if (status.active == ActiveState::failed) return true;
  // RemainAfterExit keeps a service that succeeded, so that its result outlives a restart of the daemon.
  if (status.active == ActiveState::active) return status.sub_state == "exited";
  return status.active == ActiveState::inactive && (seen_active || status.main_code != 0);
}

}  // namespace

bool JobRunner::has_ended_already(core::JobId id, Live& live) const {
  const core::Job* job = callbacks_.find_job(id);
  if (job == nullptr || job->spec.kind != core::JobKind::batch) return false;
  open_slice(live, *job);
  return live.cgroup && !live.cgroup->populated();
}

// PID 1 is about to tell of the end: that the job ran is then one change with it instead of two.
void JobRunner::await_end(core::JobId id, Live& live) {
  live.end_awaited = true;
  live.began = true;
  settle_soon(id);
}

void JobRunner::settle_soon(core::JobId id) {
  settling_.push_back(id);
  // Not later than it is due for those that wait already: quick jobs would put it off for ever.
  if (!settle_timer_->armed()) settle_timer_->arm(loop_.now().boot + settle_interval);
}

void JobRunner::unit_changed(const systemd::UnitStatus& status) {
  core::JobId id = 0;
  Live* live = find_unit(status.unit, id);
  if (live == nullptr || live->reported) return;
  live->status = status;
  look_at(id, *live);
}

void JobRunner::unit_removed(const std::string& unit) {
  core::JobId id = 0;
  Live* live = find_unit(unit, id);
  if (live == nullptr || live->reported || !live->start_answered) return;
  live->ended = true;
  settle(id);
}

void JobRunner::look_at(core::JobId id, Live& live) {
  const auto active = live.status.active;
  if (active == ActiveState::activating || active == ActiveState::active || active == ActiveState::deactivating) {
    live.seen_active = true;
    live.began = true;
  }
  if (active == ActiveState::failed) live.began = true;
  if (has_ended(live.status, live.seen_active)) {
    live.ended = true;
    return settle(id);
  }
  // A daemon that restarted between the start and its answer learns from the unit itself that it runs.
  const core::Job* job = callbacks_.find_job(id);
  const bool resumed_start = job != nullptr && std::holds_alternative<core::Starting>(job->state) &&
                             live.start_answered && active == ActiveState::active;
  if (resumed_start) became_running(id, live);
}

void JobRunner::settle(core::JobId id) {
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  Live& live = found->second;
  if (live.end_awaited) became_running(id, live);
  if (!live.ended || !live.start_answered || live.reported) return;
  const core::Job* job = callbacks_.find_job(id);
  if (job == nullptr) return;
  open_slice(live, *job);
  const EndedUnit ended{.status = live.status,
                        .slice = live.cgroup ? &*live.cgroup : nullptr,
                        .start_failed = live.start_failed,
                        .exit_reported = live.exit_reported};
  const CgroupPaths paths{.root = paths_.cgroup_root,
                          .job_slice = cgroup_path(core::job_slice_cgroup(*job)),
                          .class_slice = cgroup_path(core::class_slice_cgroup(job->spec.class_name)),
                          .total_slice = cgroup_path(std::string(core::root_slice))};
  const auto collected = evidence_.collect(*job, ended, paths);
  const bool exit_missing = job->spec.kind == core::JobKind::foreground && !live.exit_reported;
  const bool wait = (collected.record_missing && live.settle_rounds < journal_rounds) ||
                    (exit_missing && live.settle_rounds < exit_report_rounds);
  if (wait) {
    ++live.settle_rounds;
    settle_soon(id);
    return;
  }
  live.reported = true;
  if (job->spec.kind == core::JobKind::batch) logs_.begin_writing_out(id, live.attempt);
  const auto done = std::exchange(live.scope_done, {});
  callbacks_.report(id, core::Ended{.verdict = core::determine_cause(*job, collected.evidence),
                                    .usage = collected.evidence.usage,
                                    .started = systemd::moment(live.status.main_started)});
  if (done) done(core::failure(core::ErrorCode::invalid_state, "the process ended before its scope was ready"));
}

void JobRunner::settle_pending() {
  const auto ids = std::exchange(settling_, {});
  for (const auto id : ids) settle(id);
}

void JobRunner::report_exit(core::JobId id, core::ProcessExit exit) {
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  found->second.exit_reported = exit;
  settle(id);
}

}  // namespace mljobd
