#include "job_manager.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/format.hpp"
#include "core/job_view.hpp"
#include "log.hpp"
#include "pressure_guard.hpp"
#include "users.hpp"

namespace mljobd {
namespace {

// Finished jobs that keep their bus object; older ones come back when somebody asks for them.
constexpr std::size_t finished_in_memory = 64;
constexpr std::uint64_t finishes_between_prunes = 200;
// How far a runaway writer may get over its bound between two looks.
constexpr auto sample_interval = std::chrono::seconds(1);

constexpr const char* storage_problem = "storage";

std::string state_message(const core::Job& job) {
  if (const auto* finished = std::get_if<core::Finished>(&job.state)) return finished->cause.advice;
  return {};
}

// core knows users by number; people do not.
void name_who_stopped(core::Job& job, const core::JobState& before) {
  auto* finished = std::get_if<core::Finished>(&job.state);
  const auto* stopping = std::get_if<core::Stopping>(&before);
  if (finished == nullptr || stopping == nullptr || finished->cause.what != core::CauseKind::user) return;
  finished->cause.by = user_label(stopping->by);
}

// "starting -> running -> finished (done)"
std::string path_of(const std::vector<const StateChange*>& steps) {
  std::string path = steps.front()->old_state.empty() ? "new" : steps.front()->old_state;
  for (const auto* step : steps) {
    path += " -> " + step->new_state;
    if (!step->reason.empty()) path += " (" + step->reason + ")";
  }
  return path;
}

}  // namespace

JobManager::JobManager(systemd::EventLoop& loop, store::Store& store, const kernel::JobLogs& logs,
                       kernel::Machine machine, core::Settings settings)
    : loop_(loop),
      store_(store),
      logs_(logs),
      machine_(std::move(machine)),
      settings_(std::move(settings)),
      flush_(loop.make_deferred([this] { flush(); })),
      retry_timer_(loop.make_timer([this] { schedule_flush(); })),
      deadline_timer_(loop.make_timer([this] { deadlines_reached(); })),
      plan_timer_(loop.make_timer([this] { schedule_flush(); })),
      room_timer_(loop.make_timer([this] {
        replan_ = true;
        schedule_flush();
      })),
      sample_timer_(loop.make_timer([this] { sample(); })),
      samples_(store) {}

void JobManager::connect(JobRunner& runner, PressureGuard& guard, JobObserver& observer) {
  runner_ = &runner;
  guard_ = &guard;
  observer_ = &observer;
}

core::Expected<void> JobManager::load() {
  auto jobs = store_.load_unfinished();
  if (!jobs) return tl::unexpected(jobs.error());
  const auto last_id = store_.last_id();
  if (!last_id) return tl::unexpected(last_id.error());
  const auto draining = store_.draining();
  if (!draining) return tl::unexpected(draining.error());
  for (auto& job : *jobs) jobs_.add(std::move(job));
  restore_cores();
  last_id_ = *last_id;
  draining_ = *draining;
  finished_count_ = store_.finished_count().value_or(0);
  for (const auto& problem : store_.problems()) set_problem("record " + problem, problem);
  return {};
}

void JobManager::begin() {
  started_ = true;
  replan_ = true;
  prune_history();
  guard_->begin(stored_pressure_state());
  sample();  // jobs of an earlier daemon have logs to bound, too
  schedule_flush();
}

// --- Events

void JobManager::handle(core::JobId id, const core::JobEvent& event) {
  if (const auto* ended = std::get_if<core::Ended>(&event)) return handle_end(id, *ended);
  core::Job* job = jobs_.find(id);
  if (job == nullptr) return;
  if (const auto done = transition(*job, event); !done) log::warning(done.error().message);
}

void JobManager::handle_end(core::JobId id, core::Ended event) {
  core::Job* job = jobs_.find(id);
  if (job == nullptr) return;
  event.retry = core::retry_after(*job, event.verdict, memory_bound(*job), loop_.now().real);
  if (event.retry) {
    events_.push_back({.time = loop_.now().real,
                       .job = id,
                       .kind = "decision",
                       .old_state = std::string(core::to_word(job->state)),
                       .new_state = "queued",
                       .reason = "retry " + std::to_string(job->retries + 1) + " of " +
                                 std::to_string(job->spec.max_retries) + " in " +
                                 core::format_duration(event.retry->not_before - loop_.now().real),
                       .message = event.verdict.cause.advice});
  }
  if (const auto done = transition(*job, event); !done) log::warning(done.error().message);
}

core::Expected<void> JobManager::transition(core::Job& job, const core::JobEvent& event) {
  const std::string old_state(core::to_word(job.state));
  const core::JobState before = job.state;
  auto outcome = core::apply(job, event, loop_.now());
  if (!outcome) return tl::unexpected(outcome.error());
  if (!outcome->changed) return {};
  name_who_stopped(job, before);
  for (const auto action : outcome->actions) actions_.push_back({.id = job.id, .action = action});
  note_change(job, old_state);
  const auto& actions = outcome->actions;
  if (std::find(actions.begin(), actions.end(), core::JobAction::checkpoint) != actions.end()) record_checkpoint(job);
  return {};
}

void JobManager::note_change(core::Job& job, const std::string& old_state) {
  const std::string new_state(core::to_word(job.state));
  jobs_.reindex(job);
  known_jobs_.erase(job.id);
  dirty_.insert(job.id);
  replan_ = true;
  schedule_flush();
  if (old_state == new_state) return;
  const auto reason = core::reason_text(job.state);
  announcements_.push_back({.id = job.id, .old_state = old_state, .new_state = new_state, .reason = reason});
  events_.push_back({.time = loop_.now().real,
                     .job = job.id,
                     .kind = "state",
                     .old_state = old_state,
                     .new_state = new_state,
                     .reason = reason,
                     .message = state_message(job)});
  if (new_state == "finished") keep_finished(job.id);
  if (old_state == "finished") {
    std::erase(finished_, job.id);
    --finished_count_;
  }
}

void JobManager::units_released(core::JobId id) {
  if (const auto* job = find(id); job != nullptr && !core::is_finished(job->state)) {
    replan_ = true;
    schedule_flush();
  }
}

void JobManager::reserve_id(core::JobId id) {
  if (id <= last_id_) return;
  last_id_ = id;
  if (const auto raised = store_.raise_last_id(id); !raised) log::warning(raised.error().message);
}

// --- One turn: plan, make durable, act, answer, announce. Everything that became known in one iteration of the loop
// --- shares one transaction. PID 1 has what it is to start before the bus is busy with
// --- the news of it, and what it is to clear away only then.

void JobManager::schedule_flush() { flush_->schedule(); }

void JobManager::flush() {
  if (replan_ && started_ && !storage_failing_) plan_when_due();
  const bool durable = persist();
  divide_cpus();
  // What acting brings about is for the next turn: it is not durable yet.
  const auto changes = std::exchange(announcements_, {});
  const auto [starts, others] = take_actions();
  act(starts);
  if (durable) answer();
  announce(changes);
  act(others);
  guard_->act();
  guard_->jobs_changed();
  // Only now: what is to be done about the ended ones needs their records.
  forget_unused();
  arm_deadlines();
}

bool JobManager::persist() {
  store::ChangeSet changes;
  changes.jobs.reserve(dirty_.size());
  for (const auto id : dirty_) {
    const auto* job = find(id);
    if (job == nullptr) continue;
    changes.jobs.push_back(*job);
    if (core::has_units(job->state)) continue;
    if (auto samples = samples_.take(id); !samples.empty()) changes.samples.push_back({id, std::move(samples)});
  }
  changes.events = events_;
  changes.draining = draining_change_;
  if (pressure_state_) changes.texts.emplace_back(pressure_state_name, *pressure_state_);
  if (!changes.empty()) {
    if (const auto saved = store_.save(changes); !saved) {
      persist_failed(saved.error());
      return false;
    }
  }
  dirty_.clear();
  submitted_.clear();
  events_.clear();
  draining_change_.reset();
  pressure_state_.reset();
  if (storage_failing_) {
    storage_failing_ = false;
    set_problem(storage_problem, "");
    log::info("job records can be written again");
    replan_ = true;
    schedule_flush();
  }
  return true;
}

// What is new is refused, what was about to start waits on; what runs goes on, and its changes are kept until they
// can be written.
void JobManager::persist_failed(const core::Error& error) {
  if (!storage_failing_) log::error(error.message);
  storage_failing_ = true;
  set_problem(storage_problem, error.message);
  for (auto& [id, reply] : std::exchange(replies_, {})) reply(tl::unexpected(error));
  for (const auto id : std::exchange(submitted_, {})) {
    if (const auto foreground = foreground_.find(id); foreground != foreground_.end()) {
      if (foreground->second.reply) foreground->second.reply(tl::unexpected(error));
      foreground_.erase(foreground);
    }
    dirty_.erase(id);
    std::erase_if(announcements_, [&](const StateChange& change) { return change.id == id; });
    std::erase_if(events_, [&](const store::EventRecord& event) { return event.job == id; });
    std::erase_if(actions_, [&](const PendingAction& pending) { return pending.id == id; });
    jobs_.erase(id);
  }
  const auto starts = std::exchange(actions_, {});
  for (const auto& pending : starts) {
    if (pending.action != core::JobAction::start_units) {
      actions_.push_back(pending);
    } else if (core::Job* job = jobs_.find(pending.id)) {
      if (const auto done = transition(*job, core::StartPostponed{}); !done) log::error(done.error().message);
    }
  }
  retry_timer_->arm(loop_.now().boot + storage_retry_interval);
}

void JobManager::announce(const std::vector<StateChange>& changes) {
  std::map<core::JobId, std::vector<const StateChange*>> of_job;
  for (const auto& change : changes) of_job[change.id].push_back(&change);
  for (const auto& [id, steps] : of_job) {
    const auto* job = find(id);
    if (job == nullptr) continue;
    log::job(id, path_of(steps));
    if (steps.front()->old_state.empty()) {
      observer_->job_added(*job);
    } else {
      observer_->job_changed(*job, steps.size());
    }
  }
  for (const auto& change : changes) {
    if (const auto* job = find(change.id)) observer_->state_changed(*job, change);
  }
  for (const auto id : std::exchange(reason_changed_, {})) {
    if (const auto* job = find(id)) observer_->details_changed(*job);
  }
  if (!changes.empty()) observer_->counts_changed();
  announce_growth();
  announce_decisions();
}

void JobManager::answer() {
  for (auto& [id, reply] : std::exchange(replies_, {})) reply(id);
}

std::pair<std::vector<JobManager::PendingAction>, std::vector<JobManager::PendingAction>> JobManager::take_actions() {
  const auto actions = std::exchange(actions_, {});
  std::vector<PendingAction> starts;
  std::vector<PendingAction> others;
  std::partition_copy(actions.begin(), actions.end(), std::back_inserter(starts), std::back_inserter(others),
                      [](const PendingAction& pending) {
                        return pending.action == core::JobAction::start_units ||
                               pending.action == core::JobAction::checkpoint;
                      });
  return {std::move(starts), std::move(others)};
}

void JobManager::act(const std::vector<PendingAction>& actions) {
  for (const auto& pending : actions) {
    // What PID 1 keeps of a job is the only record of its end until ours is on disk.
    if (storage_failing_ && pending.action == core::JobAction::release_units) {
      actions_.push_back(pending);
    } else {
      execute(pending);
    }
  }
}

void JobManager::execute(const PendingAction& pending) {
  const auto* job = find(pending.id);
  if (job == nullptr) return;
  switch (pending.action) {
    case core::JobAction::start_units:
      if (job->spec.kind == core::JobKind::batch) {
        runner_->start(*job);
      } else {
        auto& start = foreground_[job->id];
        runner_->start_scope(*job, std::move(start.pidfds),
                             [id = job->id, reply = std::exchange(start.reply, {})](core::Expected<void> result) {
                               if (!reply) return;
                               if (result) return reply(id);
                               reply(tl::unexpected(result.error()));
                             });
      }
      sample_timer_->arm(loop_.now().boot + sample_interval);
      break;
    case core::JobAction::thaw_units:
      runner_->thaw_then_stop(*job);
      break;
    case core::JobAction::warn:
      warn(*job);
      break;
    case core::JobAction::checkpoint:
      checkpoint(*job);
      break;
    case core::JobAction::stop_units:
      runner_->stop(*job);
      break;
    case core::JobAction::kill_units:
      runner_->kill_now(*job);
      break;
    case core::JobAction::park_units:
      guard_->park(*job);
      break;
    case core::JobAction::release_units:
      foreground_.erase(job->id);
      runner_->release(*job);
      break;
  }
}

void JobManager::warn(const core::Job& job) {
  const auto& signal = *job.spec.warn_signal;
  const bool everybody = signal.to == core::WarnSignal::To::steps;  // the first process ignores it, see mljob-launch
  runner_->signal(job, everybody ? "all" : "main", signal.number, [id = job.id](const core::Expected<void>& sent) {
    if (!sent) log::warning("job " + std::to_string(id) + ": the warning signal: " + sent.error().message);
  });
}

// --- Logs, history

void JobManager::sample() {
  bool again = false;
  for (const auto& [id, active] : jobs_.active()) {
    const core::Job& job = *active;
    again = true;
    if (job.spec.kind != core::JobKind::batch) continue;
    if (const auto bounded = logs_.bound(id, job.attempt.number, settings_.log_limit); !bounded) {
      set_problem("log " + std::to_string(id), bounded.error().message);
    }
  }
  if (again) sample_timer_->arm(loop_.now().boot + sample_interval);
}

void JobManager::prune_history() {
  const auto oldest = loop_.now().real - settings_.history_age;
  const auto pruned = store_.prune(oldest, settings_.history_jobs);
  if (!pruned) return log::warning("forgetting old jobs failed: " + pruned.error().message);
  for (const auto& job : *pruned) {
    logs_.remove(job.id, job.attempts);
    if (find(job.id) != nullptr) forget(job.id);
  }
}

void JobManager::keep_finished(core::JobId id) {
  finished_.push_back(id);
  ++finished_count_;
  if (finished_count_ % finishes_between_prunes == 0) prune_history();
}

void JobManager::forget_unused() {
  while (finished_.size() > finished_in_memory && !dirty_.contains(finished_.front())) forget(finished_.front());
}

void JobManager::forget(core::JobId id) {
  std::erase(finished_, id);
  progress_.erase(id);
  set_problem("log " + std::to_string(id), "");
  jobs_.erase(id);
  observer_->job_forgotten(id);
}

}  // namespace mljobd
