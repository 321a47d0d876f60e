// What the manager asks the scheduler, and what it makes of the answer: starts, reasons to wait, cores, deadlines.
#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "core/dependencies.hpp"
#include "core/format.hpp"
#include "job_manager.hpp"
#include "log.hpp"
#include "pressure_guard.hpp"

namespace mljobd {
namespace {

// Enough to keep PID 1 busy without making other users of it wait behind a long queue of ours.
constexpr std::uint32_t concurrent_starts = 16;
// A plan over a long queue may take a tenth of the time, so that many submissions in a row cost one plan and not each
// one its own. One over a short queue costs less than the answer to the submission, and a pause would only delay it.
constexpr std::int64_t pause_per_plan = 9;
constexpr auto negligible_plan = std::chrono::milliseconds(1);
constexpr std::size_t most_known_jobs = 10'000;

template <class State>
bool in(const core::Job& job) {
  return std::holds_alternative<State>(job.state);
}

// The group that bounds how many of them run at once; empty without one.
std::string group_of(const core::Job& job) {
  if (job.spec.singleton) return "singleton " + job.spec.name + " of " + job.owner_name;
  if (job.array && job.array->max_running > 0) return "array " + std::to_string(job.array->array);
  return {};
}

std::uint32_t group_limit(const core::Job& job) {
  if (job.spec.singleton) return 1;
  return job.array ? job.array->max_running : 0;
}

std::string_view keep(std::deque<std::string>& groups, std::string group) {
  return group.empty() ? std::string_view() : std::string_view(groups.emplace_back(std::move(group)));
}

template <class Time>
void take_earlier(std::optional<Time>& first, const std::optional<Time>& other) {
  if (other && (!first || *other < *first)) first = other;
}

std::optional<core::RealTime> first_begin(const core::SchedulerInput& input) {
  std::optional<core::RealTime> first;
  for (const auto& job : input.waiting) {
    if (job.begin && *job.begin > input.now.real) take_earlier(first, job.begin);
  }
  return first;
}

}  // namespace

core::RunningJob JobManager::running_job(const core::Job& job, std::deque<std::string>& groups) const {
  core::RunningJob running{.id = job.id,
                           .owner = job.owner,
                           .class_name = job.spec.class_name,
                           .memory_claim = core::memory_claim(job.spec.limits),
                           .cores = job.spec.limits.cpus,
                           .group = keep(groups, group_of(job))};
  if (const auto deadline = core::time_limit_deadline(job)) {
    running.remaining = *deadline - loop_.now().boot + job.spec.stop_timeout.value_or(settings_.default_stop_timeout);
  }
  return running;
}

core::WaitingJob JobManager::waiting_job(const core::Job& job, std::deque<std::string>& groups) {
  core::WaitingJob waiting{.id = job.id,
                           .owner = job.owner,
                           .class_name = job.spec.class_name,
                           .priority = job.spec.priority,
                           .memory_claim = core::memory_claim(job.spec.limits),
                           .submitted = job.submitted,
                           .held = in<core::Held>(job),
                           .cores = job.spec.limits.cpus,
                           .begin = core::earliest_start(job),
                           .group = keep(groups, group_of(job)),
                           .group_limit = group_limit(job),
                           .group_kind = job.spec.singleton ? core::GroupKind::singleton : core::GroupKind::array};
  if (!job.spec.after.empty()) {
    waiting.dependency = core::check_dependencies(job.spec.after, [this](core::JobId id) { return known_job(id); });
  }
  if (job.preempted_memory != 0 && !guard_->has_room_for(job.preempted_memory)) {
    waiting.waits_for_memory = "gave way before, and needs " + core::format_bytes(job.preempted_memory) + " to be free";
  }
  if (job.spec.time_limit) {
    waiting.time_limit = *job.spec.time_limit + job.spec.stop_timeout.value_or(settings_.default_stop_timeout);
  }
  return waiting;
}

core::KnownJob JobManager::known_job(core::JobId id) {
  if (const auto* job = find(id)) return core::known_job(*job);
  if (const auto found = known_jobs_.find(id); found != known_jobs_.end()) return found->second;
  const auto loaded = store_.load(id);
  // A record that cannot be read now may be readable the next time: nothing is concluded from it for good.
  if (!loaded) return {.phase = core::KnownJob::Phase::waiting};
  if (!*loaded) return {};
  if (known_jobs_.size() >= most_known_jobs) known_jobs_.clear();
  return known_jobs_[id] = core::known_job(**loaded);
}

core::SchedulerInput JobManager::what_runs(std::deque<std::string>& groups) const {
  core::SchedulerInput input;
  input.classes = settings_.classes;
  input.memory_capacity = memory().jobs_max;
  input.core_capacity = core::cores_for_jobs(topology());
  input.draining = draining_;
  if (guard_->admission_stopped()) {
    input.pressure = "memory is short (level " + std::to_string(guard_->level()) + "), see `jobctl status`";
  }
  input.now = loop_.now();
  std::uint32_t starting = 0;
  const auto served = [&](const core::Job& job) {
    if (job.attempt.started) {
      input.served.push_back({.id = job.id, .owner = job.owner, .started = *job.attempt.started});
    }
  };
  for (const auto& [id, active] : jobs_.active()) {
    const core::Job& job = *active;
    input.running.push_back(running_job(job, groups));
    if (in<core::Starting>(job)) ++starting;
    served(job);
  }
  // One that is back in the queue while PID 1 still clears its last attempt away counts as running until then.
  for (const auto id : runner_->holders_of_units()) {
    const auto waiting = jobs_.waiting().find(id);
    if (waiting != jobs_.waiting().end()) input.running.push_back(running_job(*waiting->second, groups));
  }
  for (const auto id : finished_) served(jobs_.at(id));
  input.start_limit = starting >= concurrent_starts ? 0 : concurrent_starts - starting;
  return input;
}

core::SchedulerInput JobManager::scheduler_input(std::deque<std::string>& groups) {
  auto input = what_runs(groups);
  input.waiting.reserve(jobs_.waiting().size());
  for (const auto& [id, job] : jobs_.waiting()) {
    if (!runner_->holds_units(id)) input.waiting.push_back(waiting_job(*job, groups));
  }
  return input;
}

void JobManager::plan_when_due() {
  if (loop_.now().boot < next_plan_) return plan_timer_->arm(next_plan_);
  const auto began = std::chrono::steady_clock::now();
  plan();
  const auto took = std::chrono::duration_cast<core::Microseconds>(std::chrono::steady_clock::now() - began);
  if (took > negligible_plan) next_plan_ = loop_.now().boot + took * pause_per_plan;
}

void JobManager::plan() {
  replan_ = false;
  next_begin_.reset();
  if (jobs_.waiting().empty()) return;
  std::deque<std::string> groups;
  const auto input = scheduler_input(groups);
  next_begin_ = first_begin(input);
  for (const auto& entry : core::plan(input)) {
    // Memory comes back without anybody telling.
    if (entry.reason == core::PendingReason::pressure) look_again_for_memory();
    if (!carry_out(entry)) break;
  }
  // What was just decided (an end, a start) may let or keep others: they are seen in the next plan.
}

void JobManager::look_again_for_memory() {
  if (room_timer_->armed()) return;
  room_timer_->arm(loop_.now().boot + room_interval);
}

core::Bytes JobManager::memory_bound(const core::Job& job) const {
  const auto* job_class = core::find_class(settings_, job.spec.class_name);
  const auto of_class = job_class != nullptr ? job_class->maximum_memory.value_or(core::unlimited) : core::unlimited;
  return std::min(of_class, memory().jobs_max);
}

// False when nothing can be started at present.
bool JobManager::carry_out(const core::PlanEntry& entry) {
  core::Job& job = jobs_.at(entry.id);
  if (entry.start) {
    if (const auto room = check_room_for_output(); !room) {
      set_problem("log", room.error().message);
      retry_timer_->arm(loop_.now().boot + storage_retry_interval);
      replan_ = true;
      return false;
    }
    set_problem("log", "");
    admit(job);
  } else if (entry.reason == core::PendingReason::dependency_never_satisfied) {
    if (const auto ended = transition(job, core::DependencyFailed{.detail = entry.detail}); !ended) {
      log::error(ended.error().message);
    }
  } else if (in<core::Queued>(job)) {
    // The reason is derived from the present, so it is announced but not recorded.
    const auto outcome = core::apply(job, core::Waiting{.reason = entry.reason, .detail = entry.detail}, loop_.now());
    if (outcome && outcome->changed) reason_changed_.insert(job.id);
  }
  return true;
}

void JobManager::admit(core::Job& job) {
  const auto present = core_allocations();
  if (const auto done = transition(job, core::Admitted{.boot_id = machine_.boot_id}); !done) {
    log::error(done.error().message);
    return;
  }
  job.attempt.class_oom_before = runner_->class_oom_count(job.spec.class_name);
  job.attempt.total_oom_before = runner_->total_oom_count();
  if (job.spec.limits.cpus == 0) return;
  if (const auto cpus = core::choose_cores(topology(), present, job.spec.limits.cpus)) {
    job.attempt.reserved_cpus = core::format_cpu_list(*cpus);
  } else {
    log::error("job " + std::to_string(job.id) + ": its cores are not free although they were counted as such");
  }
}

// --- Cores

// Empty when nobody has reserved any.
core::CpuList JobManager::shared_beside(const core::CoreAllocations& allocations) const {
  return allocations.empty() ? core::CpuList{} : core::shared_cpus(topology(), allocations);
}

core::CpuList JobManager::cpus_for(const core::Job& job) const {
  if (!job.attempt.reserved_cpus.empty()) {
    return core::parse_cpu_list(job.attempt.reserved_cpus).value_or(core::CpuList{});
  }
  core::CpuList asked;
  if (job.spec.limits.cpu_list) asked = core::parse_cpu_list(*job.spec.limits.cpu_list).value_or(core::CpuList{});
  auto shared = shared_beside(core_allocations());
  if (shared.empty()) return asked;
  if (asked.empty()) return shared;
  // What was asked for by number and is wholly reserved by others leaves the job with what all others have.
  const auto rest = core::intersection(asked, shared);
  return rest.empty() ? shared : rest;
}

// Those that share give way to what was reserved, and get back what is free again.
void JobManager::divide_cpus() {
  auto shared = shared_beside(core_allocations());
  if (shared == shared_cpus_) return;
  shared_cpus_ = std::move(shared);
  for (const auto& [id, job] : jobs_.active()) {
    if (job->attempt.reserved_cpus.empty()) runner_->set_cpus(*job, cpus_for(*job));
  }
}

// The CPUs may be others than when the jobs were started: one was taken offline, or isolated at boot.
void JobManager::restore_cores() {
  const auto kept = core_allocations();
  const auto restored = core::restore_allocations(topology(), kept);
  for (const auto& [id, cpus] : kept) {
    const auto found = restored.reserved.find(id);
    jobs_.at(id).attempt.reserved_cpus =
        found == restored.reserved.end() ? std::string() : core::format_cpu_list(found->second);
  }
  for (const auto& warning : restored.warnings) log::warning(warning);
  // What runs is found on these, or is moved to them, when it is resumed.
  shared_cpus_ = shared_beside(core_allocations());
}

// --- Deadlines: time limits, their warnings and graces on the boot clock, begins and retries on the wall clock.

void JobManager::arm_deadlines() {
  std::optional<core::BootTime> first;
  for (const auto& [id, job] : jobs_.active()) {
    take_earlier(first, core::time_limit_deadline(*job));
    take_earlier(first, core::warning_deadline(*job));
    take_earlier(first, core::grace_deadline(*job));
  }
  // Wall clock and boot clock part when the machine sleeps or the clock is set: an hour is as far as they are believed.
  if (next_begin_) {
    const auto now = loop_.now();
    const core::Microseconds wait =
        std::clamp<core::Microseconds>(*next_begin_ - now.real, core::Microseconds{0}, std::chrono::hours(1));
    take_earlier(first, std::optional(now.boot + wait));
  }
  if (first) {
    deadline_timer_->arm(*first);
  } else {
    deadline_timer_->disarm();
  }
}

void JobManager::deadlines_reached() {
  const auto now = loop_.now();
  const auto is_due = [&](const std::optional<core::BootTime>& deadline) { return deadline && *deadline <= now.boot; };
  const auto apply = [&](core::Job& job, const core::JobEvent& event) {
    if (const auto done = transition(job, event); !done) log::error(done.error().message);
  };
  // A copy: what happens to a job gives it another place.
  for (const auto& [id, job] : JobRegistry::View(jobs_.active())) {
    if (is_due(core::warning_deadline(*job))) apply(*job, core::WarningDue{});
    if (is_due(core::time_limit_deadline(*job))) apply(*job, core::TimeLimitReached{});
    if (is_due(core::grace_deadline(*job))) apply(*job, core::GraceOver{});
  }
  next_begin_.reset();  // the plan finds the next one
  replan_ = true;
  schedule_flush();
}

}  // namespace mljobd
