#include "config/pressure_layer.hpp"

#include <string>

#include "config/fields.hpp"
#include "core/text.hpp"

namespace mljobd::config {
namespace {

using core::Microseconds;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using Settings = core::PressureSettings;

constexpr Range<std::int64_t> percentages{1, 100};
constexpr Range<std::int64_t> refault_rates{1, 1000000};
constexpr Range<core::Bytes> sizes{core::Bytes{1} << 20, core::Bytes{1} << 50};
constexpr Range<Microseconds> times{milliseconds(100), hours(1)};
constexpr Range<Microseconds> windows{milliseconds(100), minutes(10)};
constexpr Range<Microseconds> intervals{milliseconds(10), minutes(1)};
constexpr Range<Microseconds> park_times{minutes(1), hours(24 * 365)};

template <auto number, const auto& range>
Checked<void> set_number(const Node& value, Settings& settings) {
  return store_in(settings.*number, number_of(value, range));
}

template <auto share>
Checked<void> set_percent(const Node& value, Settings& settings) {
  return store_in((settings.*share).percent, number_of(value, percentages));
}

template <auto share>
Checked<void> set_maximum(const Node& value, Settings& settings) {
  return store_in((settings.*share).maximum, size_of(value, sizes));
}

Checked<void> set_mode(const Node& value, Settings& settings) {
  const auto word = text_of(value);
  if (!word) return tl::unexpected(word.error());
  const auto mode = core::pressure_mode_from(*word);
  if (!mode) return problem(value.line, core::quoted(*word) + " is no mode: act, dry-run and off are");
  settings.mode = *mode;
  return {};
}

Checked<void> set_longest_park(const Node& value, Settings& settings) {
  if (std::holds_alternative<std::nullptr_t>(value.content)) {
    settings.longest_park_time.reset();
    return {};
  }
  return store_in(settings.longest_park_time, duration_of(value, park_times));
}

constexpr Field<Settings> fields[] = {
    {"mode", set_mode},
    {"watch_below_percent", set_percent<&Settings::watch_below>},
    {"watch_below_maximum", set_maximum<&Settings::watch_below>},
    {"throttle_below_percent", set_percent<&Settings::throttle_below>},
    {"throttle_below_maximum", set_maximum<&Settings::throttle_below>},
    {"park_below_percent", set_percent<&Settings::park_below>},
    {"park_below_maximum", set_maximum<&Settings::park_below>},
    {"kill_below_percent", set_percent<&Settings::kill_below>},
    {"kill_below_maximum", set_maximum<&Settings::kill_below>},
    {"emergency_below_percent", set_percent<&Settings::emergency_below>},
    {"emergency_below_maximum", set_maximum<&Settings::emergency_below>},
    {"forecast_time", set_time<&Settings::forecast_time, times>},
    {"throttle_stall_percent", set_number<&Settings::throttle_stall_percent, percentages>},
    {"throttle_stall_time", set_time<&Settings::throttle_stall_time, windows>},
    {"park_stall_percent", set_number<&Settings::park_stall_percent, percentages>},
    {"park_stall_time", set_time<&Settings::park_stall_time, windows>},
    {"kill_stall_percent", set_number<&Settings::kill_stall_percent, percentages>},
    {"kill_stall_time", set_time<&Settings::kill_stall_time, windows>},
    {"group_stall_percent", set_number<&Settings::group_stall_percent, percentages>},
    {"group_stall_time", set_time<&Settings::group_stall_time, windows>},
    {"top_speed_percent", set_number<&Settings::top_speed_percent, percentages>},
    {"top_speed_time", set_time<&Settings::top_speed_time, windows>},
    {"top_refaults_per_second", set_number<&Settings::top_refaults_per_second, refault_rates>},
    {"calm_stall_percent", set_number<&Settings::calm_stall_percent, percentages>},
    {"calm_margin_percent", set_number<&Settings::calm_margin_percent, percentages>},
    {"calm_time", set_time<&Settings::calm_time, windows>},
    {"throttle_room_percent", set_number<&Settings::throttle_room_percent, percentages>},
    {"throttle_interval", set_time<&Settings::throttle_interval, times>},
    {"throttle_time", set_time<&Settings::throttle_time, times>},
    {"help_at_least_percent", set_percent<&Settings::help_at_least>},
    {"help_at_least_maximum", set_maximum<&Settings::help_at_least>},
    {"park_swap_percent", set_number<&Settings::park_swap_percent, percentages>},
    {"park_effect_time", set_time<&Settings::park_effect_time, times>},
    {"longest_park_time", set_longest_park},
    {"unpark_interval", set_time<&Settings::unpark_interval, times>},
    {"unpark_margin_percent", set_percent<&Settings::unpark_margin>},
    {"unpark_margin_maximum", set_maximum<&Settings::unpark_margin>},
    {"kill_pending_time", set_time<&Settings::kill_pending_time, times>},
    {"memory_back_time", set_time<&Settings::memory_back_time, times>},
    {"cool_down_time", set_time<&Settings::cool_down_time, times>},
    {"longest_checkpoint_grace", set_time<&Settings::longest_checkpoint_grace, times>},
    {"protect_at_most_percent", set_percent<&Settings::protect_at_most>},
    {"protect_at_most_maximum", set_maximum<&Settings::protect_at_most>},
    {"protect_after", set_time<&Settings::protect_after, times>},
    {"protect_interval", set_time<&Settings::protect_interval, times>},
    {"young_time", set_time<&Settings::young_time, times>},
    {"sample_interval", set_time<&Settings::sample_interval, intervals>},
    {"pressed_sample_interval", set_time<&Settings::pressed_sample_interval, intervals>},
    {"time_scale_percent", set_number<&Settings::time_scale_percent, percentages>},
};

}  // namespace

Checked<void> apply_pressure(const Node& value, core::Settings& settings) {
  if (auto applied = apply_fields(value, fields, settings.pressure); !applied) return applied;
  if (const auto ordered = core::check(settings.pressure); !ordered)
    return problem(value.line, ordered.error().message);
  return {};
}

}  // namespace mljobd::config
