// What the pressure policy sees: the windows, and the signs read from them.
#include <algorithm>

#include "core/pressure_policy.hpp"

namespace mljobd::core {
namespace {

using Condition = PressureJob::Condition;

constexpr double least_cpu_rate = 0.05;  // of one CPU: a job with less has no speed that could fall

Bytes limit_of(const CgroupMemory& memory) { return std::min(memory.high, memory.max); }

}  // namespace

bool PressurePolicy::gap_since_last() const { return last_step_ && now() - *last_step_ > 3 * expected_gap_; }

void PressurePolicy::clear_windows() {
  machine_.clear();
  for (auto& entry : tracks_) entry.second.trace.clear();
}

void PressurePolicy::observe() {
  // Suspended, or starved: what lies between is not known.
  if (gap_since_last()) clear_windows();
  const PressureSnapshot& snapshot = *turn_.snapshot;
  machine_.add(now(), headroom(snapshot).available, snapshot.machine.scanned_pages);
  for (const auto& job : snapshot.jobs) observe(job);
  std::erase_if(tracks_, [](const auto& entry) { return !entry.second.seen; });
  for (auto& entry : tracks_) entry.second.seen = false;
  // A restart cannot make it longer than it ever is.
  if (cool_until_) cool_until_ = std::min(*cool_until_, now() + settings_.cool_down_time);
}

void PressurePolicy::observe(const PressureJob& job) {
  Track* track = &this->track(job.id);
  if (track->started && *track->started != job.started) {
    tracks_.erase(job.id);
    track = &this->track(job.id);
  }
  track->seen = true;
  track->started = job.started;
  track->trace.add(now(), job.memory);
  const auto keep = [this](std::optional<BootTime>& since, bool holds) {
    if (!holds) {
      since.reset();
    } else if (!since) {
      since = now();
    }
  };
  keep(track->stopping_since, job.condition == Condition::stopping);
  keep(track->parked_since, job.condition == Condition::parked);
  // Begun before the daemon was restarted. By hand it is none of ours.
  const bool unknown_park = job.condition == Condition::parking && !job.parked_by_hand && !parking_;
  if (unknown_park && !(track->not_parked_before && now() < *track->not_parked_before)) {
    parking_ = {.id = job.id,
                .since = now(),
                .progress = now(),
                .resident = movable_memory(job.memory),
                .available_before = headroom(*turn_.snapshot).available};
  }
}

PressureSigns PressurePolicy::read_signs() const {
  const Headroom room = headroom(*turn_.snapshot);
  PressureSigns signs{
      .capacity = room.capacity, .available = room.available, .slope = machine_.slope(settings_.throttle_stall_time)};
  // What is woken reads its memory back as fast as it can, and then stops: no slope to go by.
  if (!somebody_wakes(now())) signs.exhausted_in = machine_.exhausted_in(settings_.throttle_stall_time);
  for (const auto& job : turn_.snapshot->jobs) {
    if (job.condition != Condition::running || at_own_limit(job)) continue;
    read_job_signs(job, signs);
    if (turn_.top == job.id) read_top_signs(job, signs);
  }
  return signs;
}

bool PressurePolicy::somebody_wakes(BootTime time) const {
  return last_unpark_ && time - *last_unpark_ < settings_.calm_time;
}

// Our own throttle makes a job stall: that is no news.
void PressurePolicy::read_job_signs(const PressureJob& job, PressureSigns& signs) const {
  const Track& track = this->track(job.id);
  if (track.throttling) return;
  const JobTrace& trace = track.trace;
  const auto& s = settings_;
  if (trace.stalls(Stall::some, s.throttle_stall_percent, s.throttle_stall_time) &&
      trace.reclaimed(s.throttle_stall_time)) {
    signs.job_stalls = true;
  }
  if (trace.stalls(Stall::full, s.group_stall_percent, s.group_stall_time) && trace.reclaimed(s.group_stall_time)) {
    signs.group_stalls = true;
  }
  if (trace.stall(Stall::some, s.throttle_stall_time).value_or(0) > s.calm_stall_percent / 100.0) {
    signs.calm_stalls = false;
  }
}

void PressurePolicy::read_top_signs(const PressureJob& job, PressureSigns& signs) const {
  const Track& track = this->track(job.id);
  const JobTrace& trace = track.trace;
  const auto& s = settings_;
  signs.top_full = trace.stall(Stall::full, s.park_stall_time);
  signs.top_stalls = trace.stalls(Stall::full, s.park_stall_percent, s.park_stall_time);
  signs.top_stalls_hard = trace.stalls(Stall::full, s.kill_stall_percent, s.kill_stall_time);
  signs.top_refaults = trace.refaults_per_second(s.top_speed_time);
  const bool reclaim = machine_.reclaimed(s.top_speed_time) || trace.reclaimed(s.top_speed_time);
  const auto rate = trace.cpu_rate(s.top_speed_time);
  if (reclaim && rate && track.usual_cpu_rate > least_cpu_rate) signs.top_speed = *rate / track.usual_cpu_rate;
}

// Slowly, while memory is there: a speed that fell together with the memory is not the usual one.
void PressurePolicy::learn_speed() {
  if (level() > 0 || turn_.signs.available < turn_.bounds.calm || !last_step_) return;
  const double weight = std::min(
      1.0, std::chrono::duration<double>(now() - *last_step_) / std::chrono::duration<double>(2 * settings_.calm_time));
  for (const auto& job : turn_.snapshot->jobs) {
    if (job.condition != Condition::running) continue;
    Track& track = this->track(job.id);
    const auto rate = track.trace.cpu_rate(settings_.top_speed_time);
    if (!rate) continue;
    track.usual_cpu_rate =
        track.usual_cpu_rate == 0 ? *rate : track.usual_cpu_rate + weight * (*rate - track.usual_cpu_rate);
  }
}

// Whatever it waits for there, more memory for the others would not end it.
bool PressurePolicy::at_own_limit(const PressureJob& job) const {
  const Bytes limit = limit_of(job.memory);
  return limit != unlimited && job.memory.current >= limit - limit / 20;
}

Bytes PressurePolicy::throttled_high(const PressureJob& job) const {
  return job.memory.current + job.memory.current / 100 * settings_.throttle_room_percent;
}

bool PressurePolicy::held_by_own_high(const PressureJob& job) const { return job.memory.high <= throttled_high(job); }

bool PressurePolicy::grows(const PressureJob& job) const {
  constexpr std::int64_t least = std::int64_t{1} << 20;
  const auto growth = track(job.id).trace.resident_growth(settings_.throttle_stall_time * 2 / 5);
  const auto share = static_cast<std::int64_t>(resident_memory(job.memory) / 200);
  return job.growing || (growth && *growth > std::max(least, share));
}

std::vector<Contender> PressurePolicy::contenders() const {
  const auto not_yet = [this](const std::optional<BootTime>& before) { return before && now() < *before; };
  std::vector<Contender> list;
  list.reserve(turn_.snapshot->jobs.size());
  for (const auto& job : turn_.snapshot->jobs) {
    const Track& track = this->track(job.id);
    const bool gives_way = (killing_ && killing_->id == job.id) || (parking_ && parking_->id == job.id);
    list.push_back(
        {.job = &job,
         .throttled = track.throttling || gives_way || not_yet(track.not_throttled_before) || held_by_own_high(job),
         .park_failed = not_yet(track.not_parked_before),
         .unkillable = not_yet(track.not_killed_before),
         .grows = grows(job)});
  }
  return list;
}

}  // namespace mljobd::core
