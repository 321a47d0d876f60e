#include "config/growth_layer.hpp"

#include <cmath>
#include <iomanip>
#include <sstream>
#include <string>

#include "config/fields.hpp"
#include "core/format.hpp"

namespace mljobd::config {
namespace {

using core::Microseconds;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Settings = core::GrowthSettings;

constexpr Range<Microseconds> sample_times{milliseconds(100), minutes(1)};
constexpr Range<Microseconds> bucket_times{seconds(1), minutes(10)};
constexpr Range<Microseconds> warmup_times{minutes(0), hours(24)};
constexpr Range<Microseconds> warning_times{minutes(1), hours(24)};
constexpr Range<Microseconds> shown_times{minutes(1), hours(24 * 30)};
constexpr Range<core::Bytes> sizes{core::Bytes{1} << 20, core::Bytes{1} << 50};
constexpr Range<double> percentages{0, 100};
constexpr Range<double> z_values{1, 100};
// Below, no window of thirty is ever significant; above, chance is.
constexpr Range<double> p_values{0.000001, 0.2};
constexpr Range<std::int64_t> time_scales{1, 100};
// To look more often costs more than what it could show.
constexpr Microseconds shortest_sample = milliseconds(10);

// The shortest form: "3.5", "1e-06".
std::string shown(double number) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::setprecision(10) << number;
  return text.str();
}

Checked<double> decimal_of(const Node& node, Range<double> range) {
  double number = 0;
  if (const auto* decimal = std::get_if<double>(&node.content)) {
    number = *decimal;
  } else if (const auto* positive = std::get_if<std::uint64_t>(&node.content)) {
    number = static_cast<double>(*positive);
  } else if (const auto* negative = std::get_if<std::int64_t>(&node.content)) {
    number = static_cast<double>(*negative);
  } else {
    return problem(node.line, "a number was expected, this is " + std::string(kind_of(node)));
  }
  if (std::isnan(number) || number < range.lowest || number > range.highest) {
    return problem(node.line, shown(number) + " is out of range: " + shown(range.lowest) + " to " +
                                  shown(range.highest) + " are allowed");
  }
  return number;
}

template <auto size>
Checked<void> set_size(const Node& value, Settings& settings) {
  return store_in(settings.*size, size_of(value, sizes));
}

template <auto number, const auto& range>
Checked<void> set_decimal(const Node& value, Settings& settings) {
  return store_in(settings.*number, decimal_of(value, range));
}

Checked<void> set_time_scale(const Node& value, Settings& settings) {
  return store_in(settings.time_scale_percent, number_of(value, time_scales));
}

constexpr Field<Settings> fields[] = {
    {"sample", set_time<&Settings::sample, sample_times>},
    {"bucket", set_time<&Settings::bucket, bucket_times>},
    {"warmup", set_time<&Settings::warmup, warmup_times>},
    {"longest_warmup", set_time<&Settings::longest_warmup, warmup_times>},
    {"minimum_slope", set_size<&Settings::minimum_slope>},
    {"minimum_slope_percent", set_decimal<&Settings::minimum_slope_percent, percentages>},
    {"minimum_rise", set_size<&Settings::minimum_rise>},
    {"minimum_rise_percent", set_decimal<&Settings::minimum_rise_percent, percentages>},
    {"jump_z", set_decimal<&Settings::jump_z, z_values>},
    {"p_value", set_decimal<&Settings::p_value, p_values>},
    {"warning", set_time<&Settings::warning, warning_times>},
    {"critical", set_time<&Settings::critical, warning_times>},
    {"shown", set_time<&Settings::shown, shown_times>},
    {"time_scale_percent", set_time_scale},
};

// "sample must be at most 30s, half of bucket, not 1m00s"
tl::unexpected<Problem> too_long(const Node& value, const std::string& key, Microseconds time, Microseconds highest,
                                 const std::string& bound) {
  return problem(value.line, key + " must be at most " + core::format_duration(highest) + ", " + bound + ", not " +
                                 core::format_duration(time));
}

}  // namespace

Checked<void> apply_growth(const Node& value, core::Settings& settings) {
  auto& growth = settings.growth;
  if (auto applied = apply_fields(value, fields, growth); !applied) return applied;
  if (const auto sample = core::scaled(growth.sample, growth); sample < shortest_sample) {
    return problem(value.line, "with a time_scale_percent of " + std::to_string(growth.time_scale_percent) +
                                   " sample must be at least " +
                                   core::format_duration(shortest_sample * 100 / growth.time_scale_percent) + ", not " +
                                   core::format_duration(growth.sample));
  }
  // A minimum of one sample is no trough.
  if (growth.sample > growth.bucket / 2) {
    return too_long(value, "sample", growth.sample, growth.bucket / 2, "half of bucket");
  }
  if (growth.warmup > growth.longest_warmup) {
    return too_long(value, "warmup", growth.warmup, growth.longest_warmup, "like longest_warmup");
  }
  if (growth.critical > growth.warning) {
    return too_long(value, "critical", growth.critical, growth.warning, "like warning");
  }
  if (growth.warning > growth.shown) return too_long(value, "warning", growth.warning, growth.shown, "like shown");
  return {};
}

}  // namespace mljobd::config
