#include "core/pressure_policy.hpp"

#include <algorithm>
#include <utility>

namespace mljobd::core {

PressurePolicy::PressurePolicy(const PressureSettings& settings, const PressureState& state)
    : settings_(scaled(settings)),
      keeper_(settings_),
      machine_(longest_window(settings_)),
      cool_until_(state.cool_until),
      expected_gap_(settings_.sample_interval),
      episode_(state.episode) {
  for (const auto& throttled : state.throttled) {
    track(throttled.id).throttling = Throttling{.memory_high_before = throttled.memory_high_before};
  }
  for (const auto& parked : state.parked) track(parked.id).parked_since = parked.since;
}

PressureDecisions PressurePolicy::step(const PressureSnapshot& snapshot) {
  turn_ = {.snapshot = &snapshot, .top = top_job(snapshot.jobs)};
  observe();
  turn_.signs = read_signs();
  turn_.bounds = level_bounds(settings_, turn_.signs.capacity);
  change_level();
  learn_speed();
  if (!killing_ && acts()) resume_grace();
  settle_kill();
  settle_park();
  measure_effects();
  release_stuck();
  if (level() == 0) unthrottle_all(PressureRule::calm);
  if (!acts()) unthrottle_all(PressureRule::mode_changed);
  if (settings_.mode != PressureMode::off) {
    throttle();
    relieve();
  }
  unpark();
  watch_effects();
  has_jobs_ = !snapshot.jobs.empty();
  promised_ = memory_to_be_read_back();
  exhausted_in_ = turn_.signs.exhausted_in;
  last_step_ = now();
  expected_gap_ = next_step_after().value_or(settings_.sample_interval);
  return std::exchange(turn_, {}).decisions;
}

void PressurePolicy::change_level() {
  const auto before = level();
  keeper_.step(now(), turn_.signs);
  if (level() == before) return;
  if (before == 0) {
    ++episode_;
    had_victim_ = false;
    told_nobody_helps_ = false;
  }
  decide(nullptr, keeper_.rule(), LevelChanged{before, level()});
}

void PressurePolicy::report(const ActionOutcome& outcome) {
  if (outcome.done || !last_step_) return;
  const auto found = tracks_.find(outcome.id);
  if (found == tracks_.end()) return;
  Track& track = found->second;
  switch (outcome.what) {
    case ActionOutcome::What::throttle:
      track.throttling.reset();
      track.not_throttled_before = *last_step_ + settings_.throttle_time;
      break;
    case ActionOutcome::What::unthrottle:
      track.throttling = std::exchange(track.undone, std::nullopt);
      break;
    case ActionOutcome::What::park:
      if (parking_ && parking_->id == outcome.id) parking_->reported_failed = true;
      break;
    case ActionOutcome::What::unpark:
      track.unparked.reset();
      break;
    case ActionOutcome::What::kill:
      if (killing_ && killing_->id == outcome.id) killing_->deadline = *last_step_;
      break;
    case ActionOutcome::What::release_high:
      break;  // it was told once, and its own limit is its own
  }
}

void PressurePolicy::forget(JobId id) {
  tracks_.erase(id);
  if (parking_ && parking_->id == id) parking_.reset();
}

bool PressurePolicy::throttles(JobId id) const {
  const auto found = tracks_.find(id);
  return found != tracks_.end() && found->second.throttling && !found->second.throttling->pretended;
}

bool PressurePolicy::admission_stopped() const {
  if (!acts()) return false;
  const bool cooling = cool_until_ && last_step_ && *last_step_ < *cool_until_;
  return level() > 0 || killing_ || parking_ || cooling;
}

std::optional<Microseconds> PressurePolicy::next_step_after() const {
  if (!has_jobs_ && !killing_) return std::nullopt;
  const bool soon = exhausted_in_ && *exhausted_in_ < settings_.park_effect_time;
  // What is woken may fill the memory within a second.
  const bool wakes = last_step_ && somebody_wakes(*last_step_);
  const bool pressed = level() > 0 || killing_ || parking_ || soon || wakes;
  return pressed ? settings_.pressed_sample_interval : settings_.sample_interval;
}

PressureState PressurePolicy::state() const {
  PressureState state{.cool_until = cool_until_, .episode = episode_};
  for (const auto& [id, track] : tracks_) {
    if (track.throttling && !track.throttling->pretended) {
      state.throttled.push_back({id, track.throttling->memory_high_before});
    }
    if (track.parked_since) state.parked.push_back({id, *track.parked_since});
  }
  return state;
}

const PressureJob* PressurePolicy::find(JobId id) const {
  const auto& jobs = turn_.snapshot->jobs;
  const auto found = std::find_if(jobs.begin(), jobs.end(), [id](const PressureJob& job) { return job.id == id; });
  return found == jobs.end() ? nullptr : &*found;
}

PressurePolicy::Track& PressurePolicy::track(JobId id) {
  return tracks_.try_emplace(id, longest_window(settings_)).first->second;
}

VictimQuestion PressurePolicy::question(Measure measure) const {
  const Bytes available = turn_.signs.available;
  const Bytes missing = turn_.bounds.calm > available ? turn_.bounds.calm - available : 0;
  const Bytes least = std::max<Bytes>(bytes_of(settings_.help_at_least, turn_.signs.capacity), 1);
  return {.measure = measure,
          .now = turn_.snapshot->now,
          .top = turn_.top,
          .capacity = turn_.signs.capacity,
          .deficit = std::max(missing, least),
          .machine = turn_.snapshot->machine,
          .emergency = emergency()};
}

bool PressurePolicy::emergency() const { return turn_.signs.available < turn_.bounds.emergency; }

Decision& PressurePolicy::decide(const PressureJob* job, PressureRule rule, PressureAction action) {
  const bool would_act = std::holds_alternative<Throttle>(action) || std::holds_alternative<Park>(action) ||
                         std::holds_alternative<Kill>(action) || std::holds_alternative<ReleaseHigh>(action);
  const PressureSnapshot& snapshot = *turn_.snapshot;
  const auto moment = snapshot.now.real.time_since_epoch().count();
  last_id_ = std::max(last_id_ + 1, static_cast<std::uint64_t>(std::max<Microseconds::rep>(moment, 0)));
  turn_.decisions.push_back({.id = last_id_,
                             .when = snapshot.now.real,
                             .episode = episode_,
                             .level = level(),
                             .rule = rule,
                             .dry_run = would_act && settings_.mode == PressureMode::dry_run,
                             .job = job == nullptr ? 0 : job->id,
                             .job_name = job == nullptr ? std::string() : job->name,
                             .action = action,
                             .inputs = {.signs = turn_.signs,
                                        .bounds = turn_.bounds,
                                        .machine_available = snapshot.machine.available,
                                        .swap_total = snapshot.machine.swap_total,
                                        .swap_free = snapshot.machine.swap_free,
                                        .top = turn_.top}});
  return turn_.decisions.back();
}

void PressurePolicy::show_candidates(Decision& decision, const VictimQuestion& question,
                                     const std::vector<Contender>& list, const PressureJob* chosen) const {
  decision.inputs.deficit = question.deficit;
  decision.candidates = weigh(settings_, question, list, chosen, maximum_candidates);
  decision.candidates_left_out = list.size() - decision.candidates.size();
}

}  // namespace mljobd::core
