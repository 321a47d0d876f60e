// Who gives way to pressure, and what came of it.
#include <algorithm>
#include <utility>

#include "core/pressure_policy.hpp"

namespace mljobd::core {
namespace {

using Condition = PressureJob::Condition;

constexpr int throttles_per_step = 8;  // a step is short, and each is a call to PID 1
constexpr std::uint32_t longest_kill_extension = 3;
constexpr int park_failure_pause = 10;  // of park_effect_time
constexpr int unkillable_pause = 6;     // of kill_pending_time

std::int64_t gain(Bytes before, Bytes after) {
  return static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
}

}  // namespace

// It was given before the daemon or the configuration was another. Whoever has it is the one victim still.
void PressurePolicy::resume_grace() {
  const auto& jobs = turn_.snapshot->jobs;
  const auto job = std::find_if(jobs.begin(), jobs.end(), [](const PressureJob& candidate) {
    return candidate.condition == Condition::stopping && candidate.saves_until && candidate.memory.populated;
  });
  if (job == jobs.end()) return;
  const Bytes size = resident_memory(job->memory);
  killing_ = {.id = job->id,
              .since = now(),
              .deadline = *job->saves_until + settings_.kill_pending_time,
              .size = size,
              .resident = size,
              .available_before = turn_.signs.available,
              .in_grace = true};
  had_victim_ = true;
}

void PressurePolicy::settle_kill() {
  if (!killing_) return;
  const PressureJob* const job = find(killing_->id);
  if (job != nullptr && job->memory.populated) return wait_for_killed(*job);
  if (!killing_->gone) killing_->gone = now();
  // Gone is not yet free: a second victim now would be one too many (earlyoom #121, #309).
  const bool still_held = job != nullptr && resident_memory(job->memory) > killing_->size / 10;
  const bool came_back = turn_.signs.available >= killing_->available_before + killing_->size / 2;
  const bool waited = !still_held && now() - *killing_->gone >= settings_.memory_back_time;
  if (came_back || waited || now() - *killing_->gone >= settings_.kill_pending_time) killed(job);
}

void PressurePolicy::wait_for_killed(const PressureJob& job) {
  if (killing_->in_grace && emergency()) {
    killing_->in_grace = false;
    killing_->deadline = now() + settings_.kill_pending_time;
    decide(&job, PressureRule::grace_cut_short, Kill{.expected = killing_->size});
    return;
  }
  if (now() < killing_->deadline) return;
  const Bytes resident = resident_memory(job.memory);
  const bool falls = resident + killing_->size / 100 < killing_->resident;
  if (falls && killing_->extensions < longest_kill_extension) {
    killing_->resident = resident;
    killing_->deadline = now() + settings_.kill_pending_time;
    ++killing_->extensions;
    return;
  }
  track(job.id).not_killed_before = now() + unkillable_pause * settings_.kill_pending_time;
  decide(&job, PressureRule::unkillable, Notice{});
  killing_.reset();
  had_victim_ = false;
}

void PressurePolicy::killed(const PressureJob* job) {
  auto& decision =
      decide(job, PressureRule::memory_back, Notice{gain(killing_->available_before, turn_.signs.available)});
  decision.job = killing_->id;
  killing_.reset();
  cool_until_ = now() + settings_.cool_down_time;
  clear_windows();
}

void PressurePolicy::settle_park() {
  if (!parking_ || parking_->failed) return;
  const PressureJob* const job = find(parking_->id);
  if (job == nullptr || !job->memory.populated || job->condition == Condition::stopping) {
    parking_.reset();
    return;
  }
  if (job->condition == Condition::parked) {
    decide(job, PressureRule::park_done, Notice{gain(parking_->available_before, turn_.signs.available)});
    parking_.reset();
    settle_until_ = now() + settings_.memory_back_time;
    clear_windows();
    return;
  }
  const Bytes resident = movable_memory(job->memory);
  constexpr Bytes noticeable = Bytes{1} << 20;
  if (resident + noticeable <= parking_->resident) {
    parking_->resident = resident;
    parking_->progress = now();
  }
  if (parking_->reported_failed || now() - parking_->progress >= settings_.park_effect_time) park_failed();
}

void PressurePolicy::park_failed() {
  const PressureJob* const job = find(parking_->id);
  parking_->failed = true;
  track(parking_->id).not_parked_before = now() + park_failure_pause * settings_.park_effect_time;
  decide(job, PressureRule::park_without_effect, Notice{gain(parking_->available_before, turn_.signs.available)});
}

void PressurePolicy::throttle() {
  const auto [asked, rule] = keeper_.asked();
  if (asked == 0) return;
  // The slope alone is worth a closer look, and nobody new; who has all it needs in a second is not worth a stop of
  // thirty. Only what would be over before the bound is seen is stopped at once.
  const auto& left = turn_.signs.exhausted_in;
  if (rule == PressureRule::forecast && !(left && *left < settings_.throttle_interval)) return;
  const bool may_any = !last_throttle_ || now() - *last_throttle_ >= settings_.throttle_interval;
  if (asked == 1) {
    if (may_any && !throttle_one(true)) throttle_one(false);
    return;
  }
  // From here on growth is what hurts: all of it stops at once.
  int throttled = 0;
  while (throttled < throttles_per_step && throttle_one(true)) ++throttled;
  if (throttled == 0 && may_any) throttle_one(false);
}

bool PressurePolicy::throttle_one(bool growers_only) {
  auto asked = question(Measure::throttle);
  asked.growers_only = growers_only;
  const auto list = contenders();
  const PressureJob* const job = select_victim(settings_, asked, list);
  if (job == nullptr) return false;
  track(job->id).throttling = Throttling{
      .since = now(), .memory_high_before = job->memory.high, .current_at = job->memory.current, .pretended = !acts()};
  last_throttle_ = now();
  show_candidates(decide(job, keeper_.asked().rule, Throttle{.memory_high = throttled_high(*job)}), asked, list, job);
  return true;
}

void PressurePolicy::relieve() {
  if (level() < 2) {
    park_impossible_since_.reset();
    return;
  }
  if (keeper_.asked().level < 2 || must_wait()) return;
  // Before anything is ended, whatever the level: a park stops the growth at once and loses nothing.
  if (!parking_ && park()) return;
  if (!park_impossible_since_) park_impossible_since_ = now();
  if (const auto rule = reason_to_kill()) kill(*rule);
}

bool PressurePolicy::must_wait() const {
  if (killing_) return true;
  if (parking_ && !parking_->failed) {
    const bool tried = now() - parking_->since >= settings_.memory_back_time / 2;
    return !emergency() || !tried || turn_.signs.available > parking_->available_before;
  }
  if (emergency()) return false;
  if (cool_until_ && now() < *cool_until_) return true;
  if (settle_until_ && now() < *settle_until_) return true;
  // Somebody is about to leave anyway.
  const auto asked = question(Measure::kill);
  const Bytes least = std::min(bytes_of(settings_.help_at_least, asked.capacity), asked.deficit);
  const auto& jobs = turn_.snapshot->jobs;
  return std::any_of(jobs.begin(), jobs.end(), [&](const PressureJob& job) {
    const auto& since = track(job.id).stopping_since;
    return since && job.memory.populated && resident_memory(job.memory) >= least &&
           now() - *since < settings_.kill_pending_time;
  });
}

bool PressurePolicy::park() {
  const auto asked = question(Measure::park);
  const auto list = contenders();
  const PressureJob* const job = select_victim(settings_, asked, list);
  if (job == nullptr) return false;
  begin_victim();
  const Bytes expected = movable_memory(job->memory);
  show_candidates(decide(job, keeper_.asked().rule, Park{expected}), asked, list, job);
  park_impossible_since_.reset();
  if (acts()) {
    parking_ = {.id = job->id,
                .since = now(),
                .progress = now(),
                .resident = expected,
                .available_before = turn_.signs.available};
  } else {
    cool_until_ = now() + settings_.cool_down_time;
  }
  return true;
}

std::optional<PressureRule> PressurePolicy::reason_to_kill() const {
  if (parking_ && parking_->failed) return PressureRule::park_without_effect;
  if (keeper_.asked().level >= 3) return keeper_.asked().rule;
  if (turn_.signs.exhausted_in && *turn_.signs.exhausted_in < settings_.park_effect_time) {
    return PressureRule::forecast;
  }
  // A top job that is slow for once may just do something else: good enough to park for, not to end one.
  const bool lasts = now() - *park_impossible_since_ >= settings_.park_effect_time;
  return lasts && keeper_.asked().rule != PressureRule::top_slow ? std::optional(PressureRule::park_impossible)
                                                                 : std::nullopt;
}

void PressurePolicy::kill(PressureRule rule) {
  const auto asked = question(Measure::kill);
  const auto list = contenders();
  const PressureJob* const job = select_victim(settings_, asked, list);
  if (job == nullptr) return tell_nobody_helps();
  show_candidates(kill_job(*job, rule), asked, list, job);
}

Decision& PressurePolicy::kill_job(const PressureJob& job, PressureRule rule) {
  begin_victim();
  const Bytes size = resident_memory(job.memory);
  const auto grace = affordable_grace(job);
  if (acts()) {
    track(job.id).throttling.reset();
    if (parking_ && parking_->id == job.id) parking_.reset();
    killing_ = {.id = job.id,
                .since = now(),
                .deadline = now() + grace.value_or(Microseconds{0}) + settings_.kill_pending_time,
                .size = size,
                .resident = size,
                .available_before = turn_.signs.available,
                .in_grace = grace.has_value()};
  } else {
    cool_until_ = now() + settings_.cool_down_time;
  }
  return decide(&job, rule, Kill{.checkpoint_grace = grace, .expected = size});
}

// What is frozen cannot save anything.
std::optional<Microseconds> PressurePolicy::affordable_grace(const PressureJob& job) const {
  if (!job.checkpoint_grace || emergency() || job.condition != Condition::running) return std::nullopt;
  const auto grace = std::min(*job.checkpoint_grace, settings_.longest_checkpoint_grace);
  const auto& left = turn_.signs.exhausted_in;
  return left && *left <= grace ? std::nullopt : std::optional(grace);
}

void PressurePolicy::tell_nobody_helps() {
  if (std::exchange(told_nobody_helps_, true)) return;
  const auto asked = question(Measure::kill);
  const auto list = contenders();
  const bool alone = list.size() == 1 && turn_.top == list.front().job->id;
  const auto* const top = turn_.top ? find(*turn_.top) : nullptr;
  const auto rule = alone ? PressureRule::top_job_alone : PressureRule::nothing_helps;
  show_candidates(decide(alone ? top : nullptr, rule, Notice{}), asked, list, nullptr);
}

void PressurePolicy::begin_victim() {
  if (std::exchange(had_victim_, true)) {
    ++episode_;
    told_nobody_helps_ = false;
  }
}

}  // namespace mljobd::core
