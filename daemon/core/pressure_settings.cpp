#include "core/pressure_settings.hpp"

#include <algorithm>
#include <string>

namespace mljobd::core {
namespace {

constexpr Microseconds PressureSettings::* times[] = {
    &PressureSettings::forecast_time,
    &PressureSettings::throttle_stall_time,
    &PressureSettings::park_stall_time,
    &PressureSettings::kill_stall_time,
    &PressureSettings::group_stall_time,
    &PressureSettings::top_speed_time,
    &PressureSettings::calm_time,
    &PressureSettings::throttle_interval,
    &PressureSettings::throttle_time,
    &PressureSettings::park_effect_time,
    &PressureSettings::unpark_interval,
    &PressureSettings::kill_pending_time,
    &PressureSettings::memory_back_time,
    &PressureSettings::cool_down_time,
    &PressureSettings::longest_checkpoint_grace,
    &PressureSettings::young_time,
    &PressureSettings::protect_after,
    &PressureSettings::protect_interval,
    &PressureSettings::sample_interval,
    &PressureSettings::pressed_sample_interval,
};

Microseconds scaled(Microseconds time, std::uint32_t percent) {
  constexpr Microseconds shortest = std::chrono::milliseconds(10);
  return std::max(time * percent / 100, shortest);
}

struct NamedShare {
  std::string_view name;
  MemoryShare PressureSettings::* share;
};

// From much to little.
constexpr NamedShare bounds[] = {
    {"watch_below", &PressureSettings::watch_below},         {"throttle_below", &PressureSettings::throttle_below},
    {"park_below", &PressureSettings::park_below},           {"kill_below", &PressureSettings::kill_below},
    {"emergency_below", &PressureSettings::emergency_below},
};

Expected<void> check_order(std::string_view higher, std::string_view lower, std::string_view unit) {
  std::string message(lower);
  message.append(unit).append(" is above ").append(higher).append(unit);
  return failure(ErrorCode::invalid_config, message + ": each level must begin at or below the one before it");
}

Expected<void> check_bounds(const PressureSettings& settings) {
  for (std::size_t i = 1; i < std::size(bounds); ++i) {
    const MemoryShare& higher = settings.*bounds[i - 1].share;
    const MemoryShare& lower = settings.*bounds[i].share;
    if (lower.percent > higher.percent) return check_order(bounds[i - 1].name, bounds[i].name, "_percent");
    if (lower.maximum > higher.maximum) return check_order(bounds[i - 1].name, bounds[i].name, "_maximum");
  }
  return {};
}

}  // namespace

std::string_view to_word(PressureMode mode) {
  switch (mode) {
    case PressureMode::act:
      return "act";
    case PressureMode::dry_run:
      return "dry-run";
    case PressureMode::off:
      return "off";
  }
  return "";
}

std::optional<PressureMode> pressure_mode_from(std::string_view word) {
  for (const auto mode : {PressureMode::act, PressureMode::dry_run, PressureMode::off}) {
    if (to_word(mode) == word) return mode;
  }
  return std::nullopt;
}

Bytes bytes_of(const MemoryShare& share, Bytes capacity) {
  return std::min(capacity / 100 * share.percent + capacity % 100 * share.percent / 100, share.maximum);
}

PressureSettings scaled(PressureSettings settings) {
  for (const auto time : times) settings.*time = scaled(settings.*time, settings.time_scale_percent);
  for (auto& time : settings.effect_times) time = scaled(time, settings.time_scale_percent);
  if (settings.longest_park_time) {
    settings.longest_park_time = scaled(*settings.longest_park_time, settings.time_scale_percent);
  }
  settings.time_scale_percent = 100;
  return settings;
}

Microseconds longest_window(const PressureSettings& settings) {
  return std::max({settings.throttle_stall_time, settings.park_stall_time, settings.kill_stall_time,
                   settings.group_stall_time, settings.top_speed_time, settings.calm_time});
}

Expected<void> check(const PressureSettings& settings) {
  if (auto ordered = check_bounds(settings); !ordered) return ordered;
  const auto refuse = [](std::string message) { return failure(ErrorCode::invalid_config, std::move(message)); };
  if (settings.kill_stall_percent < settings.park_stall_percent) {
    return refuse("kill_stall_percent is below park_stall_percent: a stall would kill before it parks");
  }
  if (settings.calm_stall_percent > settings.throttle_stall_percent) {
    return refuse("calm_stall_percent is above throttle_stall_percent: calm must be less than what throttles");
  }
  if (settings.unpark_margin.percent < settings.throttle_below.percent ||
      settings.unpark_margin.maximum < settings.throttle_below.maximum) {
    return refuse("unpark_margin is less than throttle_below: what is woken would at once be parked again");
  }
  if (settings.pressed_sample_interval > settings.sample_interval) {
    return refuse("pressed_sample_interval is longer than sample_interval: under pressure one looks more often");
  }
  return {};
}

}  // namespace mljobd::core
