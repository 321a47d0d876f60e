// The requests of callers: who may ask, whether it can be, and the event that it becomes.
#include <algorithm>
#include <utility>

#include <sys/statvfs.h>

#include "core/format.hpp"
#include "core/job_view.hpp"
#include "job_manager.hpp"
#include "kernel/process.hpp"
#include "log.hpp"
#include "pressure_guard.hpp"
#include "users.hpp"

namespace mljobd {
namespace {

// Below this a job would lose its output, and soon the records as well.
constexpr core::Bytes room_for_output = core::Bytes{8} << 20;
constexpr std::size_t progress_message_limit = 200;
constexpr std::size_t adopted_processes_limit = 64;

std::string subject(core::JobId id) { return "job " + std::to_string(id); }

core::Expected<void> check_processes(const Caller& caller, const std::vector<kernel::UniqueFd>& pidfds) {
  if (pidfds.empty() || pidfds.size() > adopted_processes_limit) {
    return core::failure(core::ErrorCode::invalid_spec,
                         "a job takes 1 to " + std::to_string(adopted_processes_limit) + " processes at once");
  }
  for (const auto& pidfd : pidfds) {
    const auto process = kernel::inspect_pidfd(pidfd.get());
    if (!process) return core::failure(core::ErrorCode::invalid_state, process.error().message);
    // A set-uid program runs with another's rights: it is not the caller's to move.
    const bool own = process->real_uid == caller.uid && process->effective_uid == caller.uid;
    if (!own && !caller.privileged) {
      return core::failure(core::ErrorCode::not_authorized,
                           "process " + std::to_string(process->pid) + " belongs to another user");
    }
  }
  return {};
}

}  // namespace

core::ValidationContext JobManager::validation_context(const Caller& caller, core::JobKind kind,
                                                       FindJobs find_jobs) const {
  return {.settings = settings_,
          .kind = kind,
          .privileged = caller.privileged,
          .total_memory = machine_.total_memory,
          .jobs_memory_max = memory().jobs_max,
          .cpus = core::all_cpus(topology()),
          .cores_for_jobs = core::cores_for_jobs(topology()),
          .find_jobs = std::move(find_jobs)};
}

core::Expected<void> JobManager::check_quota(const Caller& caller, std::size_t jobs) const {
  const std::size_t of_caller = jobs_.waiting_of(caller.uid);
  const std::size_t unfinished = jobs_.waiting().size() + jobs_.active().size();
  if (of_caller + jobs > settings_.quotas.queued_jobs && !caller.privileged) {
    return core::failure(core::ErrorCode::limit_exceeded,
                         "you have " + std::to_string(of_caller) + " jobs waiting, and one user may have " +
                             std::to_string(settings_.quotas.queued_jobs) +
                             " (quotas.queued_jobs); try again when some have started, or cancel some");
  }
  if (unfinished + jobs > settings_.quotas.unfinished_jobs_total) {
    return core::failure(core::ErrorCode::limit_exceeded,
                         std::to_string(unfinished) + " jobs of all users are unfinished, and this daemon holds " +
                             std::to_string(settings_.quotas.unfinished_jobs_total) +
                             " (quotas.unfinished_jobs_total); try again later");
  }
  return {};
}

core::Expected<void> JobManager::check_room_for_output() const {
  struct statvfs space{};
  if (statvfs(logs_.directory().c_str(), &space) != 0) return {};
  const core::Bytes free = core::Bytes{space.f_bavail} * space.f_frsize;
  if (free >= room_for_output) return {};
  return core::failure(core::ErrorCode::storage, "the disk that holds " + logs_.directory() +
                                                     " is full, so a job's output would be lost; free space there");
}

core::Expected<core::Job*> JobManager::owned(const Caller& caller, core::JobId id) {
  const auto known = recall(id);
  if (!known) return tl::unexpected(known.error());
  core::Job& job = jobs_.at(id);
  if (job.owner != caller.uid && !caller.privileged) {
    return core::failure(core::ErrorCode::not_authorized,
                         subject(id) + " belongs to " + job.owner_name + "; only they and root may do that");
  }
  return &job;
}

core::Expected<core::Job*> JobManager::add_job(const Caller& caller, core::JobSpec spec,
                                               const std::optional<core::ArrayPlace>& place) {
  auto owner_name = user_name(caller.uid);
  if (!owner_name) return tl::unexpected(owner_name.error());
  core::Job job;
  job.id = ++last_id_;
  job.owner = caller.uid;
  job.owner_name = std::move(*owner_name);
  job.state = spec.hold ? core::JobState(core::Held{}) : core::JobState(core::Queued{});
  job.spec = std::move(spec);
  job.submitted = loop_.now().real;
  job.array = place;
  core::Job& added = jobs_.add(std::move(job));
  submitted_.insert(added.id);
  note_change(added, "");
  return &added;
}

core::Expected<void> JobManager::check_start_now(const core::JobSpec& spec) const {
  std::deque<std::string> groups;
  // Its owner sits before the terminal: it passes whoever waits, and starts or is refused.
  auto input = what_runs(groups);
  input.start_limit = 1;
  input.waiting.push_back({.id = last_id_ + 1,
                           .class_name = spec.class_name,
                           .priority = spec.priority,
                           .memory_claim = core::memory_claim(spec.limits),
                           .cores = spec.limits.cpus});
  const auto entries = core::plan(input);
  if (!entries.empty() && entries.front().start) return {};
  const std::string why =
      entries.empty()
          ? ""
          : core::reason_text(core::Queued{.reason = entries.front().reason, .detail = entries.front().detail});
  return core::failure(draining_ ? core::ErrorCode::invalid_state : core::ErrorCode::no_capacity,
                       "it cannot start now: " + why + "; " +
                           (spec.kind == core::JobKind::adopted ? "adopt it without cpus (--cpus), or later"
                                                                : "`jobctl submit` queues it until it can"));
}

void JobManager::start_foreground(const Caller& caller, core::JobKind kind, std::vector<kernel::UniqueFd> pidfds,
                                  core::ValueMap spec, Reply reply) {
  if (const auto mine = check_processes(caller, pidfds); !mine) return reply(tl::unexpected(mine.error()));
  if (kind == core::JobKind::adopted && !spec.contains("command")) {
    const auto pid = kernel::pid_of_pidfd(pidfds.front().get());
    auto command = pid ? kernel::read_command_line(*pid) : tl::unexpected(pid.error());
    if (!command) return reply(core::failure(core::ErrorCode::invalid_state, command.error().message));
    spec["command"] = std::move(*command);
  }
  auto valid = core::validate_spec(spec, validation_context(caller, kind));
  if (!valid) return reply(tl::unexpected(valid.error()));
  if (const auto allowed = check_quota(caller); !allowed) return reply(tl::unexpected(allowed.error()));
  // What is adopted runs already and only has to find what it wants for itself.
  if (kind == core::JobKind::foreground || valid->limits.cpus > 0) {
    if (const auto fits = check_start_now(*valid); !fits) return reply(tl::unexpected(fits.error()));
  }
  const auto job = add_job(caller, std::move(*valid));
  if (!job) return reply(tl::unexpected(job.error()));
  foreground_[(*job)->id] = {.connection = caller.connection, .pidfds = std::move(pidfds), .reply = std::move(reply)};
  admit(**job);
}

core::Expected<void> JobManager::request(const Caller& caller, core::JobId id, const core::JobEvent& event) {
  const auto job = owned(caller, id);
  if (!job) return tl::unexpected(job.error());
  return transition(**job, event);
}

// What PID 1 is to do first happens to the job only when it has been done; that it can is known before.
core::Expected<core::Job*> JobManager::owned_and_ready(const Caller& caller, core::JobId id,
                                                       const core::JobEvent& event) {
  const auto job = owned(caller, id);
  if (!job) return job;
  core::Job trial = **job;
  if (const auto possible = core::apply(trial, event, loop_.now()); !possible) {
    return tl::unexpected(possible.error());
  }
  return job;
}

core::Expected<void> JobManager::cancel(const Caller& caller, core::JobId id) {
  return request(caller, id, core::CancelRequested{.by = caller.uid, .by_name = user_label(caller.uid)});
}

core::Expected<void> JobManager::hold(const Caller& caller, core::JobId id) {
  return request(caller, id, core::HoldRequested{});
}

core::Expected<void> JobManager::release(const Caller& caller, core::JobId id) {
  return request(caller, id, core::ReleaseRequested{});
}

core::Expected<void> JobManager::requeue(const Caller& caller, core::JobId id) {
  if (const auto allowed = check_quota(caller); !allowed) return allowed;
  return request(caller, id, core::RequeueRequested{.by = caller.uid});
}

void JobManager::freeze(const Caller& caller, core::JobId id, Done done) {
  const auto job = owned_and_ready(caller, id, core::FreezeDone{});
  if (!job) return done(tl::unexpected(job.error()));
  runner_->freeze(**job, [this, id, done = std::move(done)](core::Expected<void> result) {
    if (result) handle(id, core::FreezeDone{});
    done(std::move(result));
  });
}

void JobManager::thaw(const Caller& caller, core::JobId id, Done done) {
  const auto job = owned_and_ready(caller, id, core::ThawDone{});
  if (!job) return done(tl::unexpected(job.error()));
  runner_->thaw(**job, [this, id, done = std::move(done)](core::Expected<void> result) {
    if (result) handle(id, core::ThawDone{});
    done(std::move(result));
  });
}

void JobManager::signal(const Caller& caller, core::JobId id, const std::string& who, int signal, Done done) {
  const auto job = owned(caller, id);
  if (!job) return done(tl::unexpected(job.error()));
  if (signal < 1 || signal > 64) {
    return done(core::failure(core::ErrorCode::invalid_spec,
                              "signal " + std::to_string(signal) + " does not exist; 1 to 64 are allowed"));
  }
  if (!core::has_units((*job)->state)) {
    return done(core::failure(
        core::ErrorCode::invalid_state,
        subject(id) + " is " + std::string(core::to_word((*job)->state)) + " and has no processes to signal"));
  }
  runner_->signal(**job, who, signal, std::move(done));
}

// What PID 1 is to be told of a change that makes the job's specification `spec`.
core::Limits JobManager::limits_in_force(const core::Job& job, const core::JobSpec& spec, core::Limits change) const {
  if (change.memory || change.memory_max) change.memory_max = core::memory_ceiling(spec.limits);
  if (change.cpu_list) {
    core::Job changed = job;
    changed.spec = spec;
    change.cpu_list = core::format_cpu_list(cpus_for(changed));
  }
  return change;
}

void JobManager::set_limits(const Caller& caller, core::JobId id, const core::ValueMap& changes, Done done) {
  const auto job = owned(caller, id);
  if (!job) return done(tl::unexpected(job.error()));
  const auto context = validation_context(caller, (*job)->spec.kind);
  const auto change = core::validate_limit_change(changes, context);
  if (!change) return done(tl::unexpected(change.error()));
  auto spec = core::apply_limit_change((*job)->spec, *change, context);
  if (!spec) return done(tl::unexpected(spec.error()));
  if (core::is_finished((*job)->state)) {
    return done(core::failure(core::ErrorCode::invalid_state, subject(id) + " has finished; its limits are history"));
  }
  const auto commit = [this, id, shared = shared_cpus_](core::JobSpec changed) {
    core::Job* found = jobs_.find(id);
    if (found == nullptr) return;
    found->spec = std::move(changed);
    note_change(*found, std::string(core::to_word(found->state)));
    reason_changed_.insert(id);
    // Cores were reserved or freed meanwhile, and this job was moved by what it had asked for before.
    if (shared != shared_cpus_ && core::has_units(found->state)) runner_->set_cpus(*found, cpus_for(*found));
  };
  // One that is about to start is started with them.
  if (!core::has_units((*job)->state) || !runner_->holds_units(id)) {
    commit(std::move(*spec));
    return done({});
  }
  const core::Limits in_force = limits_in_force(**job, *spec, change->limits);
  if (in_force.memory_max) {
    const auto now = runner_->memory_now(id);
    if (now && *in_force.memory_max < *now) {
      return done(core::failure(core::ErrorCode::invalid_spec,
                                subject(id) + " holds more memory now than that limit; choose a higher one, or cancel "
                                              "the job"));
    }
  }
  runner_->set_limits(**job, in_force,
                      [commit, spec = std::move(*spec), done = std::move(done)](core::Expected<void> result) {
                        if (result) commit(spec);
                        done(std::move(result));
                      });
}

core::Expected<void> JobManager::report_progress(const Caller& caller, core::JobId id, Progress progress) {
  const auto job = owned(caller, id);
  if (!job) return tl::unexpected(job.error());
  if (!(progress.fraction >= 0 && progress.fraction <= 1) || progress.message.size() > progress_message_limit) {
    return core::failure(core::ErrorCode::invalid_spec, "progress is a number from 0 to 1 and a text of at most " +
                                                            std::to_string(progress_message_limit) + " bytes");
  }
  if (!core::has_units((*job)->state)) {
    return core::failure(core::ErrorCode::invalid_state, subject(id) + " is not running");
  }
  progress_[id] = std::move(progress);
  reason_changed_.insert(id);
  schedule_flush();
  return {};
}

core::Expected<void> JobManager::report_exit(const Caller& caller, core::JobId id, core::ProcessExit exit) {
  const auto job = owned(caller, id);
  if (!job) return tl::unexpected(job.error());
  const auto foreground = foreground_.find(id);
  const bool started_elsewhere = foreground != foreground_.end() && foreground->second.connection != caller.connection;
  if ((*job)->spec.kind != core::JobKind::foreground || started_elsewhere) {
    return core::failure(core::ErrorCode::not_authorized,
                         "only the client that started " + subject(id) + " in the foreground can report its exit");
  }
  if (!core::has_units((*job)->state)) {
    return core::failure(core::ErrorCode::invalid_state, subject(id) + " has no running process");
  }
  runner_->report_exit(id, exit);
  if (core::has_units((*job)->state)) return transition(**job, core::MainProcessExited{});
  return {};
}

core::Expected<void> JobManager::set_draining(const Caller& caller, bool draining) {
  if (!caller.privileged) {
    return core::failure(core::ErrorCode::not_authorized, "only root may drain or resume; type `sudo jobctl " +
                                                              std::string(draining ? "drain" : "resume") + "`");
  }
  if (draining == draining_) return {};
  draining_ = draining;
  draining_change_ = draining;
  replan_ = true;
  events_.push_back({.time = loop_.now().real,
                     .kind = "daemon",
                     .old_state = draining ? "running" : "draining",
                     .new_state = draining ? "draining" : "running",
                     .reason = user_label(caller.uid),
                     .message = draining ? "nothing new is started" : "jobs are started again"});
  schedule_flush();
  observer_->service_state_changed();
  return {};
}

void JobManager::apply_settings(core::Settings settings) {
  settings_ = std::move(settings);
  guard_->apply_settings();
  replan_ = true;
  schedule_flush();
}

core::Expected<core::ValueMap> JobManager::specification(const Caller& caller, core::JobId id) {
  const auto job = owned(caller, id);
  if (!job) return tl::unexpected(job.error());
  return core::spec_view((*job)->spec);
}

core::Expected<kernel::UniqueFd> JobManager::open_log(const Caller& caller, core::JobId id, std::uint32_t attempt) {
  const auto found = owned(caller, id);
  if (!found) return tl::unexpected(found.error());
  const core::Job& job = **found;
  if (job.spec.kind != core::JobKind::batch) {
    return core::failure(core::ErrorCode::invalid_state,
                         subject(id) + " prints where it was started, not into a log of the daemon");
  }
  if (attempt == 0) attempt = job.attempt.number;
  if (attempt == 0) {
    return core::failure(core::ErrorCode::invalid_state, subject(id) + " has not started yet, so it has no output");
  }
  return logs_.open_for_reading(id, attempt);
}

}  // namespace mljobd
