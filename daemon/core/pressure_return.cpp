// What the pressure policy gives back: limits that it lowered, jobs that it parked.
#include <algorithm>
#include <utility>

#include "core/pressure_policy.hpp"

namespace mljobd::core {
namespace {

using Condition = PressureJob::Condition;

constexpr double crawling = 0.05;  // CPU seconds per second

}  // namespace

// In a mode that does not act only what was really done is undone.
void PressurePolicy::unthrottle_all(PressureRule rule) {
  for (auto& [id, track] : tracks_) {
    if (!track.throttling || (rule == PressureRule::mode_changed && track.throttling->pretended)) continue;
    unthrottle(id, track, rule);
  }
}

void PressurePolicy::unthrottle(JobId id, Track& track, PressureRule rule) {
  auto& decision = decide(find(id), rule, Unthrottle{track.throttling->memory_high_before});
  decision.dry_run = track.throttling->pretended;
  track.undone = std::exchange(track.throttling, std::nullopt);
}

void PressurePolicy::release_stuck() {
  // A throttle that is released after its time was too long by one look.
  const auto due = settings_.throttle_time - std::min(settings_.throttle_time, settings_.sample_interval);
  const auto window = std::min(settings_.throttle_time / 2, longest_window(settings_));
  for (const auto& job : turn_.snapshot->jobs) {
    Track& track = this->track(job.id);
    if (!track.throttling) {
      release_own_high(job, track);
      continue;
    }
    const Throttling& throttling = *track.throttling;
    const bool fell = job.memory.current + throttling.current_at / 50 < throttling.current_at;
    if (job.condition != Condition::running || fell || !track.trace.hit_high(window) ||
        now() - throttling.since < due) {
      continue;
    }
    track.not_throttled_before = now() + 2 * settings_.throttle_time;
    unthrottle(job.id, track, PressureRule::throttle_stuck);
    track.trace.clear();  // what it waited for was ours
  }
}

// Its memory.max, or the others' need, decides instead of a sleep without end (neon #5444, Containarium #1454).
void PressurePolicy::release_own_high(const PressureJob& job, Track& track) {
  if (track.told_stuck || settings_.mode == PressureMode::off || !is_stuck_at_own_high(job, track)) return;
  const bool is_top = turn_.top == job.id;
  if (level() == 0) {
    decide(&job, PressureRule::own_limit_stuck, ReleaseHigh{job.memory.max});
  } else if (is_top) {
    decide(&job, PressureRule::own_limit_stuck, Notice{});
  } else if (!killing_ && !parking_) {
    kill_job(job, PressureRule::own_limit_stuck);
  } else {
    return;
  }
  track.told_stuck = true;
}

bool PressurePolicy::is_stuck_at_own_high(const PressureJob& job, const Track& track) const {
  const CgroupMemory& memory = job.memory;
  if (job.condition != Condition::running || memory.high == unlimited || memory.high >= memory.max) return false;
  // Page cache would have been dropped.
  if (resident_memory(memory) < memory.high - memory.high / 10) return false;
  const auto window = std::min(settings_.throttle_time * 2 / 3, longest_window(settings_));
  const JobTrace& trace = track.trace;
  if (!trace.hit_high(window)) return false;
  if (memory.memory_stalls) return trace.stalls(Stall::full, settings_.group_stall_percent, window);
  const auto rate = trace.cpu_rate(window);
  return rate && *rate < crawling;
}

void PressurePolicy::unpark() {
  if (unpark_failed_park() || killing_ || parking_) return;
  const auto& jobs = turn_.snapshot->jobs;
  const PressureJob* chosen = nullptr;
  PressureRule chosen_rule = PressureRule::room;
  for (const auto& job : jobs) {
    if (job.condition != Condition::parked || job.parked_by_hand) continue;
    if (end_overdue_park(job)) return;
    const auto rule = reason_to_unpark(job);
    if (rule && (chosen == nullptr || more_important(job, *chosen))) {
      chosen = &job;
      chosen_rule = *rule;
    }
  }
  if (chosen != nullptr) {
    unpark_job(*chosen, chosen_rule);
  } else if (nothing_runs()) {
    tell_no_room();
  }
}

// Left frozen it would neither run nor be out of the way.
bool PressurePolicy::unpark_failed_park() {
  if (!parking_ || !parking_->failed || (level() >= 2 && acts())) return false;
  if (const auto* const job = find(parking_->id)) unpark_job(*job, PressureRule::park_without_effect);
  parking_.reset();
  return true;
}

bool PressurePolicy::end_overdue_park(const PressureJob& job) {
  Track& track = this->track(job.id);
  const auto& longest = settings_.longest_park_time;
  const bool woken = track.unparked && now() - *track.unparked < settings_.unpark_interval;
  if (!longest || woken || now() - *track.parked_since < *longest) return false;
  if (needed_memory(job.memory) + turn_.bounds.kill <= room_for_parked()) {
    unpark_job(job, PressureRule::parked_too_long);
    return true;
  }
  if (!acts()) return false;
  kill_job(job, PressureRule::parked_too_long);
  return true;
}

std::optional<PressureRule> PressurePolicy::reason_to_unpark(const PressureJob& job) const {
  const auto passed = [this](const std::optional<BootTime>& since) {
    return !since || now() - *since >= settings_.unpark_interval;
  };
  if (!passed(last_unpark_) || !passed(track(job.id).unparked)) return std::nullopt;
  const Bytes size = needed_memory(job.memory);
  const Bytes room = room_for_parked();
  const bool calm = level() == 0 && passed(keeper_.since()) && !(cool_until_ && now() < *cool_until_);
  if (calm && size + bytes_of(settings_.unpark_margin, turn_.signs.capacity) <= room) return PressureRule::room;
  // On an idle machine a margin would only keep it waiting, and the level may be somebody else's doing.
  if (nothing_runs() && size + turn_.bounds.kill <= room) return PressureRule::idle_room;
  return std::nullopt;
}

void PressurePolicy::unpark_job(const PressureJob& job, PressureRule rule) {
  decide(&job, rule, Unpark{needed_memory(job.memory)});
  track(job.id).unparked = now();
  track(job.id).told_no_room = false;
  last_unpark_ = now();
}

// What was woken lately has not yet read its memory back, and will.
Bytes PressurePolicy::memory_to_be_read_back() const {
  Bytes promised = 0;
  for (const auto& job : turn_.snapshot->jobs) {
    const auto& unparked = track(job.id).unparked;
    if (unparked && now() - *unparked < 2 * settings_.calm_time) promised += job.memory.swap;
  }
  return promised;
}

Bytes PressurePolicy::room_for_parked() const {
  const Bytes promised = memory_to_be_read_back();
  return turn_.signs.available > promised ? turn_.signs.available - promised : 0;
}

bool PressurePolicy::nothing_runs() const {
  const auto& jobs = turn_.snapshot->jobs;
  return std::none_of(jobs.begin(), jobs.end(), [this](const PressureJob& job) {
    const auto& unparked = track(job.id).unparked;
    const bool wakes = unparked && now() - *unparked < settings_.unpark_interval;
    const bool rests = job.condition == Condition::parked || job.condition == Condition::frozen_by_user;
    return !rests || wakes;
  });
}

void PressurePolicy::tell_no_room() {
  for (const auto& job : turn_.snapshot->jobs) {
    Track& track = this->track(job.id);
    const bool fits = needed_memory(job.memory) + turn_.bounds.kill <= room_for_parked();
    if (job.condition != Condition::parked || job.parked_by_hand || fits) continue;
    if (!std::exchange(track.told_no_room, true)) decide(&job, PressureRule::no_room, Notice{});
  }
}

}  // namespace mljobd::core
