#include "core/pressure_level.hpp"

#include <algorithm>

namespace mljobd::core {
namespace {

Bytes with_margin(Bytes bound, std::uint32_t percent) { return bound + bound / 100 * percent; }

}  // namespace

std::string_view to_word(PressureRule rule) {
  switch (rule) {
    case PressureRule::none:
      return "";
    case PressureRule::available:
      return "available";
    case PressureRule::emergency:
      return "emergency";
    case PressureRule::forecast:
      return "forecast";
    case PressureRule::job_stall:
      return "job-stall";
    case PressureRule::top_stall:
      return "top-stall";
    case PressureRule::top_slow:
      return "top-slow";
    case PressureRule::top_refaults:
      return "top-refaults";
    case PressureRule::group_stall:
      return "group-stall";
    case PressureRule::calm:
      return "calm";
    case PressureRule::park_impossible:
      return "park-impossible";
    case PressureRule::park_without_effect:
      return "park-without-effect";
    case PressureRule::park_done:
      return "park-done";
    case PressureRule::memory_back:
      return "memory-back";
    case PressureRule::unkillable:
      return "unkillable";
    case PressureRule::grace_cut_short:
      return "grace-cut-short";
    case PressureRule::nothing_helps:
      return "nothing-helps";
    case PressureRule::top_job_alone:
      return "top-job-alone";
    case PressureRule::throttle_stuck:
      return "throttle-stuck";
    case PressureRule::own_limit_stuck:
      return "own-limit-stuck";
    case PressureRule::room:
      return "room";
    case PressureRule::idle_room:
      return "idle-room";
    case PressureRule::parked_too_long:
      return "parked-too-long";
    case PressureRule::no_room:
      return "no-room";
    case PressureRule::mode_changed:
      return "mode-changed";
  }
  return "";
}

LevelBounds level_bounds(const PressureSettings& settings, Bytes capacity) {
  LevelBounds bounds{.watch = bytes_of(settings.watch_below, capacity),
                     .throttle = bytes_of(settings.throttle_below, capacity),
                     .park = bytes_of(settings.park_below, capacity),
                     .kill = bytes_of(settings.kill_below, capacity),
                     .emergency = bytes_of(settings.emergency_below, capacity)};
  bounds.calm = with_margin(bounds.throttle, settings.calm_margin_percent);
  return bounds;
}

LevelReason assess(const PressureSettings& settings, const PressureSigns& signs,
                   std::optional<Microseconds> at_level_one) {
  const LevelBounds bounds = level_bounds(settings, signs.capacity);
  // Before anything that stalls is listened to: memory must be short.
  if (signs.available >= bounds.watch) return {};
  if (signs.available < bounds.emergency) return {3, PressureRule::emergency};
  if (signs.available < bounds.kill) return {3, PressureRule::available};
  if (signs.top_stalls_hard) return {3, PressureRule::top_stall};
  if (signs.group_stalls) return {3, PressureRule::group_stall};
  if (signs.available < bounds.park) return {2, PressureRule::available};
  if (signs.top_stalls && at_level_one && *at_level_one >= settings.park_stall_time) {
    return {2, PressureRule::top_stall};
  }
  if (signs.top_refaults && *signs.top_refaults > settings.top_refaults_per_second && signs.available < bounds.calm) {
    return {2, PressureRule::top_refaults};
  }
  if (signs.top_speed && *signs.top_speed < settings.top_speed_percent / 100.0 && signs.available < bounds.calm) {
    return {2, PressureRule::top_slow};
  }
  if (signs.available < bounds.throttle) return {1, PressureRule::available};
  if (signs.job_stalls || signs.top_stalls) return {1, PressureRule::job_stall};
  if (signs.exhausted_in && *signs.exhausted_in < settings.forecast_time) return {1, PressureRule::forecast};
  return {};
}

void LevelKeeper::step(BootTime now, const PressureSigns& signs) {
  const auto at_level_one = held_.level > 0 ? std::optional(now - since_) : std::nullopt;
  asked_ = assess(settings_, signs, at_level_one);
  const auto lowest = lowest_possible(now, signs, asked_.level);
  if (asked_.level >= held_.level) {
    if (held_.level == 0 && asked_.level > 0) since_ = now;
    if (asked_.level > 0) held_ = asked_;
    return;
  }
  if (lowest >= held_.level) return;
  if (lowest == 0) since_ = now;
  held_ = {lowest, lowest == asked_.level && lowest > 0 ? asked_.rule : PressureRule::calm};
}

std::uint32_t LevelKeeper::lowest_possible(BootTime now, const PressureSigns& signs, std::uint32_t asked) {
  const LevelBounds bounds = level_bounds(settings_, signs.capacity);
  const auto margin = settings_.calm_margin_percent;
  const bool calm = asked == 0 && signs.available > bounds.calm && signs.calm_stalls;
  if (!calm) {
    calm_since_.reset();
  } else if (!calm_since_) {
    calm_since_ = now;
  }
  if (calm_since_ && now - *calm_since_ >= settings_.calm_time) return 0;
  if (signs.available > with_margin(bounds.park, margin)) return std::max<std::uint32_t>(asked, 1);
  if (signs.available > with_margin(bounds.kill, margin)) return std::max<std::uint32_t>(asked, 2);
  return 3;
}

}  // namespace mljobd::core
