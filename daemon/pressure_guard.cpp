#include "pressure_guard.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include <sys/epoll.h>

#include "core/format.hpp"
#include "core/lifecycle.hpp"
#include "core/unit_names.hpp"
#include "job_manager.hpp"
#include "log.hpp"

namespace mljobd {
namespace {

// A look is due at the latest; one that PSI asked for comes no sooner than this after the last.
constexpr auto earliest_look = std::chrono::milliseconds(50);
// The tail is what the kernel will not move: locked or just touched pages. More is not worth seconds of reclaim.
constexpr core::Bytes park_floor = core::Bytes{4} << 20;
// Longer than any disk needs for what it holds; a park that gets nowhere is given up by the policy much sooner.
constexpr std::chrono::milliseconds longest_park = std::chrono::minutes(30);

core::PressureJob::Condition condition_of(const core::JobState& state) {
  using Condition = core::PressureJob::Condition;
  if (std::holds_alternative<core::Starting>(state)) return Condition::starting;
  if (std::holds_alternative<core::Frozen>(state)) return Condition::frozen_by_user;
  if (std::holds_alternative<core::Stopping>(state)) return Condition::stopping;
  if (const auto* parked = std::get_if<core::Parked>(&state)) {
    return parked->moving ? Condition::parking : Condition::parked;
  }
  return Condition::running;
}

std::optional<core::Microseconds> checkpoint_grace(const core::Job& job) {
  return job.spec.checkpoint_signal ? std::optional(job.spec.checkpoint_signal->grace) : std::nullopt;
}

bool parked_by_hand(const core::JobState& state) {
  const auto* parked = std::get_if<core::Parked>(&state);
  return parked != nullptr && parked->by_hand;
}

std::string label(core::JobId id) { return "job " + std::to_string(id); }

}  // namespace

PressureGuard::PressureGuard(systemd::EventLoop& loop, JobManager& manager, JobRunner& runner, const Paths& paths)
    : loop_(loop),
      manager_(manager),
      runner_(runner),
      paths_(paths),
      policy_(manager.settings().pressure),
      growth_(manager.settings().growth),
      protection_(manager.settings().pressure),
      timer_(loop.make_timer([this] { step(); })),
      reclaimer_watch_(
          loop.make_watch(reclaimer_.fd(), EPOLLIN, [this](std::uint32_t /*events*/) { reclaim_reports(); })) {
  auto machine = kernel::MachineSampler::open();
  if (!machine) {
    manager.set_problem("pressure", "memory pressure is not watched: " + machine.error().message);
    return;
  }
  machine_ = std::move(*machine);
  if (const auto first = machine_->sample(); first && !first->memory_stalls) {
    manager.set_problem("psi",
                        "the kernel does not measure pressure (PSI): jobs are protected by what memory is available "
                        "alone; `jobctl doctor` says how to switch it on");
  }
}

void PressureGuard::begin(const core::PressureState& state) {
  policy_ = core::PressurePolicy(manager_.settings().pressure, state);
  for (const auto& [id, job] : manager_.active_jobs()) {
    const auto* parked = std::get_if<core::Parked>(&job->state);
    if (parked != nullptr && parked->moving) park(*job);
  }
  find_protected();
  jobs_changed();
}

void PressureGuard::apply_settings() {
  policy_ = core::PressurePolicy(manager_.settings().pressure, policy_.state());
  growth_.apply_settings(manager_.settings().growth);
  protection_.apply_settings(manager_.settings().pressure);
  jobs_changed();
}

bool PressureGuard::admission_stopped() const { return !manager_.active_jobs().empty() && policy_.admission_stopped(); }

core::Bytes PressureGuard::swap_free() const {
  if (!machine_) return 0;
  const auto memory = machine_->sample();
  return memory ? memory->swap_free : 0;
}

bool PressureGuard::has_room_for(core::Bytes memory) const {
  if (!machine_) return true;
  core::PressureSnapshot snapshot;
  if (const auto machine = machine_->sample()) snapshot.machine = *machine;
  if (jobs_slice_) {
    if (const auto slice = jobs_slice_->sample()) snapshot.jobs_slice = *slice;
  }
  const auto room = core::headroom(snapshot);
  const auto margin = core::bytes_of(manager_.settings().pressure.unpark_margin, room.capacity);
  return room.available >= memory + margin + policy_.promised_memory();
}

void PressureGuard::jobs_changed() {
  if (!machine_ || timer_->armed() || manager_.active_jobs().empty()) return;
  // Not at once: most of what there is to open would be for a job that is over before it could do harm.
  timer_->arm(loop_.now().boot + manager_.settings().pressure.sample_interval);
}

// One trigger for all jobs: the kernel keeps a thread for each cgroup that has one. It is kept while no job runs, for
// to close it waits for every CPU.
void PressureGuard::arm_trigger() {
  if (trigger_watch_ && trigger_alive_) return trigger_watch_->enable();
  trigger_watch_.reset();
  auto trigger = kernel::PressureTrigger::arm(paths_.cgroup_root + "/" + paths_.cgroup_prefix +
                                              std::string(core::root_slice) + "/memory.pressure");
  if (!trigger) return;  // looked at every second all the same; doctor tells of a kernel without PSI
  trigger_ = std::move(*trigger);
  trigger_alive_ = true;
  trigger_watch_ = loop_.make_watch(trigger_->fd(), EPOLLPRI, [this](std::uint32_t events) {
    trigger_alive_ = (events & EPOLLERR) == 0;
    if ((events & EPOLLPRI) != 0) timer_->arm(loop_.now().boot + earliest_look);
  });
}

void PressureGuard::rest() {
  timer_->disarm();
  if (trigger_watch_) trigger_watch_->disable();
  samplers_.clear();
  growth_.keep({});
  jobs_slice_.reset();
  protect({.now = loop_.now()});
}

core::CgroupMemory PressureGuard::memory_of(const core::Job& job) {
  auto found = samplers_.find(job.id);
  if (found != samplers_.end() && found->second.attempt != job.attempt.number) {
    samplers_.erase(found);
    found = samplers_.end();
  }
  if (found == samplers_.end()) {
    auto opened = kernel::CgroupSampler::open(paths_.cgroup_root, paths_.cgroup_prefix + core::job_slice_cgroup(job));
    if (!opened) return {};
    found = samplers_.emplace(job.id, Sampled{job.attempt.number, std::move(*opened)}).first;
  }
  return found->second.sampler.sample().value_or(core::CgroupMemory{});
}

core::PressureJob PressureGuard::look_at(const core::Job& job) {
  const auto* job_class = core::find_class(manager_.settings(), job.spec.class_name);
  core::PressureJob seen{.id = job.id,
                         .name = job.spec.name,
                         .class_name = job.spec.class_name,
                         .rank = job_class != nullptr ? job_class->rank : 0,
                         .priority = job.spec.priority,
                         .started = job.attempt.started_boot.value_or(loop_.now().boot),
                         .condition = condition_of(job.state),
                         .requeue = job.spec.requeue,
                         .checkpoint_grace = checkpoint_grace(job),
                         .saves_until = core::grace_deadline(job),
                         .unparkable = core::why_unparkable(job.spec),
                         .parked_by_hand = parked_by_hand(job.state),
                         .growing = growth_.grows(job)};
  // Before it runs its slice may not be there, or not be this attempt's.
  if (seen.condition != core::PressureJob::Condition::starting) seen.memory = memory_of(job);
  return seen;
}

core::PressureSnapshot PressureGuard::look() {
  core::PressureSnapshot snapshot{.now = loop_.now()};
  if (const auto machine = machine_->sample()) snapshot.machine = *machine;
  if (!jobs_slice_) {
    auto slice = kernel::CgroupSampler::open(paths_.cgroup_root, paths_.cgroup_prefix + std::string(core::root_slice));
    if (slice) jobs_slice_ = std::move(*slice);
  }
  if (jobs_slice_) {
    if (const auto slice = jobs_slice_->sample()) {
      snapshot.jobs_slice = *slice;
    } else {
      jobs_slice_.reset();
    }
  }
  const auto& jobs = manager_.active_jobs();
  snapshot.jobs.reserve(jobs.size());
  for (const auto& [id, job] : jobs) snapshot.jobs.push_back(look_at(*job));
  std::erase_if(samplers_, [&](const auto& entry) { return !jobs.contains(entry.first); });
  return snapshot;
}

void PressureGuard::step() {
  if (manager_.active_jobs().empty()) return rest();
  arm_trigger();
  const auto snapshot = look();
  manager_.record_samples(snapshot);
  protect(snapshot);
  auto decisions = policy_.step(snapshot);
  if (!decisions.empty()) {
    manager_.record(decisions);
    std::move(decisions.begin(), decisions.end(), std::back_inserter(pending_));
  }
  if (std::exchange(admission_stopped_, policy_.admission_stopped()) != policy_.admission_stopped()) {
    manager_.admission_changed();
  }
  watch_growth(snapshot);
  if (const auto next = policy_.next_step_after()) {
    timer_->arm(loop_.now().boot + std::min(*next, growth_.sample_interval()));
  }
}

void PressureGuard::watch_growth(const core::PressureSnapshot& snapshot) {
  const auto& jobs = manager_.active_jobs();
  growth_.keep(jobs);
  const core::Bytes available = core::headroom(snapshot).available;
  for (const auto& seen : snapshot.jobs) {
    const auto job = jobs.find(seen.id);
    using Condition = core::PressureJob::Condition;
    if (job == jobs.end() || seen.condition == Condition::starting || seen.condition == Condition::stopping) continue;
    const bool held = seen.condition != Condition::running || policy_.throttles(seen.id);
    const auto change = growth_.observe(snapshot.now.boot, *job->second, seen.memory, available,
                                        held ? GrowthWatch::Pace::held : GrowthWatch::Pace::own);
    if (change.shown) manager_.forecast_changed(seen.id);
    if (!change.news.empty()) manager_.growth_seen(seen.id, change.news);
  }
}

// --- What was decided is done

void PressureGuard::act() {
  for (const auto& decision : std::exchange(pending_, {})) {
    if (!decision.dry_run) execute(decision);
  }
}

void PressureGuard::execute(const core::Decision& decision) {
  std::visit(
      [&](const auto& action) {
        using Action = std::decay_t<decltype(action)>;
        if constexpr (std::is_same_v<Action, core::Park>) {
          execute(decision.job, action, core::describe(decision));
        } else if constexpr (!std::is_same_v<Action, core::LevelChanged> && !std::is_same_v<Action, core::Notice> &&
                             !std::is_same_v<Action, core::Freed>) {
          execute(decision.job, action);
        }
      },
      decision.action);
}

void PressureGuard::override_limits(core::JobId id, const core::Limits& limits, core::ActionOutcome::What what) {
  const auto* job = manager_.find(id);
  if (job == nullptr || !runner_.holds_units(id)) return;
  runner_.override_limits(*job, limits, reporting(id, what));
}

JobRunner::Done PressureGuard::reporting(core::JobId id, core::ActionOutcome::What what) {
  return [this, id, what](const core::Expected<void>& result) {
    if (result) return;
    log::warning(label(id) + ": what the pressure policy decided could not be done: " + result.error().message);
    policy_.report({.id = id, .what = what, .done = false});
  };
}

void PressureGuard::execute(core::JobId id, const core::Throttle& action) {
  core::Limits limits;
  limits.memory_high = action.memory_high;
  limits.cpu_weight = action.cpu_weight;
  limits.io_weight = action.io_weight;
  override_limits(id, limits, core::ActionOutcome::What::throttle);
}

void PressureGuard::execute(core::JobId id, const core::Unthrottle& action) {
  const auto* job = manager_.find(id);
  if (job == nullptr) return;
  auto limits = JobRunner::usual_weights(*job);
  limits.memory_high = job->spec.limits.memory_high.value_or(action.memory_high);
  override_limits(id, limits, core::ActionOutcome::What::unthrottle);
}

void PressureGuard::execute(core::JobId id, const core::ReleaseHigh& action) {
  core::Limits limits;
  limits.memory_high = action.memory_high;
  override_limits(id, limits, core::ActionOutcome::What::release_high);
}

void PressureGuard::execute(core::JobId id, const core::Kill& action) {
  const auto* job = manager_.find(id);
  if (job == nullptr || !core::has_units(job->state)) return;
  cancel_move(id);
  // To save its work it needs its share of the machine again. Kernels before 6.8 let a dying task sleep at memory.high.
  auto limits = action.checkpoint_grace ? JobRunner::usual_weights(*job) : core::Limits{};
  limits.memory_high = core::unlimited;
  runner_.override_limits(*job, limits, [](const core::Expected<void>&) {});
  manager_.handle(
      id, core::PressureDemandsEnd{.memory = core::needed_memory(memory_of(*job)), .grace = action.checkpoint_grace});
}

void PressureGuard::execute(core::JobId id, const core::Park& /*action*/, const std::string& reason) {
  manager_.handle(id, core::ParkBegun{.by_hand = false, .reason = reason});
}

void PressureGuard::execute(core::JobId id, const core::Unpark& /*action*/) {
  const auto* job = manager_.find(id);
  if (job == nullptr || !std::holds_alternative<core::Parked>(job->state)) return;
  unpark(*job, reporting(id, core::ActionOutcome::What::unpark));
}

// --- Parking

void PressureGuard::park(const core::Job& job) {
  runner_.freeze(job, [this, id = job.id](const core::Expected<void>& frozen) {
    const auto* found = manager_.find(id);
    if (found == nullptr || !std::holds_alternative<core::Parked>(found->state)) return;
    if (!frozen) return give_up_park(id, "it could not be frozen: " + frozen.error().message);
    // A job may not swap while it runs, for a limit is a limit; parked it does nothing else.
    core::Limits limits;
    limits.swap_max = core::unlimited;
    runner_.override_limits(*found, limits, [this, id](const core::Expected<void>& allowed) {
      const auto* parked = manager_.find(id);
      if (parked == nullptr || !std::holds_alternative<core::Parked>(parked->state)) return;
      if (!allowed) return give_up_park(id, "systemd does not let it swap: " + allowed.error().message);
      move_out(*parked);
    });
  });
}

void PressureGuard::move_out(const core::Job& job) {
  auto target = kernel::open_reclaim_target(paths_.cgroup_root, paths_.cgroup_prefix + core::job_slice_cgroup(job));
  if (!target) return give_up_park(job.id, target.error().message);
  const auto id = reclaimer_.submit({.target = std::move(*target), .floor = park_floor, .longest = longest_park});
  moves_.emplace(id, job.id);
}

// The policy wakes a job that it parked itself, when it hears of it; one that a person parked has nobody else.
void PressureGuard::give_up_park(core::JobId id, const std::string& why) {
  log::warning(label(id) + ": parking failed: " + why);
  policy_.report({.id = id, .what = core::ActionOutcome::What::park, .done = false});
  const auto* job = manager_.find(id);
  if (job != nullptr && parked_by_hand(job->state)) unpark(*job, [](const core::Expected<void>&) {});
}

void PressureGuard::reclaim_reports() {
  for (const auto& report : reclaimer_.take_reports()) {
    if (report.state != kernel::ReclaimState::running) reclaim_ended(report);
  }
}

void PressureGuard::reclaim_ended(const kernel::ReclaimReport& report) {
  const auto found = moves_.find(report.id);
  if (found == moves_.end()) return;
  const auto id = found->second;
  moves_.erase(found);
  const auto* job = manager_.find(id);
  if (job == nullptr || !std::holds_alternative<core::Parked>(job->state)) return;
  const bool most_is_out = report.moved >= report.left;
  if (report.state == kernel::ReclaimState::small || (report.state != kernel::ReclaimState::gone && most_is_out)) {
    log::info(label(id) + ": parked, " + core::format_bytes(report.moved) + " moved out in " +
              core::format_duration(report.took));
    policy_.report({.id = id, .what = core::ActionOutcome::What::park, .done = true});
    return manager_.handle(id, core::ParkDone{});
  }
  give_up_park(id, report.state == kernel::ReclaimState::stuck
                       ? "no more than " + core::format_bytes(report.moved) + " of it would go to swap"
                       : "moving its memory out ended with \"" + std::string(std::strerror(report.error)) + "\"");
}

// Its report is still to come, when the job may have been parked anew: it is then nobody's.
void PressureGuard::cancel_move(core::JobId id) {
  for (auto& [reclaim, job] : moves_) {
    if (job != id) continue;
    reclaimer_.cancel(reclaim);
    job = 0;
  }
}

void PressureGuard::unpark(const core::Job& job, JobRunner::Done done) {
  cancel_move(job.id);
  // Its limit comes back before it runs: a daemon that dies in between leaves nobody who may swap.
  core::Limits limits;
  limits.swap_max = job.spec.limits.swap_max.value_or(0);
  runner_.override_limits(job, limits, [](const core::Expected<void>&) {});
  runner_.thaw(job, [this, id = job.id, done = std::move(done)](const core::Expected<void>& thawed) {
    const auto* found = manager_.find(id);
    const bool parked = found != nullptr && std::holds_alternative<core::Parked>(found->state);
    if (thawed && parked) manager_.handle(id, core::UnparkDone{});
    done(thawed);
  });
}

}  // namespace mljobd
