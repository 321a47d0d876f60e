// The thresholds of the pressure policy, as the administrator writes them.
#include "core/pressure_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "config/config.hpp"

namespace mljobd::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

core::Expected<core::Settings> parse(const std::string& pressure, core::Settings base = core::default_settings()) {
  return parse_settings("{\n\"pressure\": " + pressure + "}", "config.json", std::move(base));
}

core::PressureSettings parsed(const std::string& pressure, core::Settings base = core::default_settings()) {
  const auto settings = parse(pressure, std::move(base));
  if (!settings) FAIL(settings.error().message);
  return settings->pressure;
}

TEST_CASE("each key of the pressure policy changes its own threshold") {
  core::PressureSettings expected;
  CHECK(parsed("{}") == expected);
  const std::vector<std::pair<std::string, core::MemoryShare core::PressureSettings::*>> shares{
      {"watch_below", &core::PressureSettings::watch_below},
      {"throttle_below", &core::PressureSettings::throttle_below},
      {"park_below", &core::PressureSettings::park_below},
      {"kill_below", &core::PressureSettings::kill_below},
      {"emergency_below", &core::PressureSettings::emergency_below},
      {"help_at_least", &core::PressureSettings::help_at_least},
      {"protect_at_most", &core::PressureSettings::protect_at_most},
      {"unpark_margin", &core::PressureSettings::unpark_margin}};
  std::string text = R"({"mode": "dry-run")";
  expected.mode = core::PressureMode::dry_run;
  std::uint32_t percent = 60;
  for (const auto& [key, share] : shares) {
    if (key == "unpark_margin") percent = 70;
    expected.*share = {percent, core::Bytes{percent} << 20U};
    text += ", \"" + key + "_percent\": " + std::to_string(percent) + ", \"" + key + "_maximum\": \"" +
            std::to_string(percent) + "M\"";
    --percent;
  }
  const std::vector<std::pair<std::string, std::uint32_t core::PressureSettings::*>> numbers{
      {"throttle_stall_percent", &core::PressureSettings::throttle_stall_percent},
      {"park_stall_percent", &core::PressureSettings::park_stall_percent},
      {"kill_stall_percent", &core::PressureSettings::kill_stall_percent},
      {"group_stall_percent", &core::PressureSettings::group_stall_percent},
      {"top_speed_percent", &core::PressureSettings::top_speed_percent},
      {"top_refaults_per_second", &core::PressureSettings::top_refaults_per_second},
      {"calm_margin_percent", &core::PressureSettings::calm_margin_percent},
      {"throttle_room_percent", &core::PressureSettings::throttle_room_percent},
      {"park_swap_percent", &core::PressureSettings::park_swap_percent},
      {"time_scale_percent", &core::PressureSettings::time_scale_percent}};
  std::uint32_t number = 20;
  for (const auto& [key, member] : numbers) {
    expected.*member = ++number;
    text += ", \"" + key + "\": " + std::to_string(number);
  }
  const std::vector<std::pair<std::string, core::Microseconds core::PressureSettings::*>> times{
      {"forecast_time", &core::PressureSettings::forecast_time},
      {"throttle_stall_time", &core::PressureSettings::throttle_stall_time},
      {"park_stall_time", &core::PressureSettings::park_stall_time},
      {"kill_stall_time", &core::PressureSettings::kill_stall_time},
      {"group_stall_time", &core::PressureSettings::group_stall_time},
      {"top_speed_time", &core::PressureSettings::top_speed_time},
      {"calm_time", &core::PressureSettings::calm_time},
      {"throttle_interval", &core::PressureSettings::throttle_interval},
      {"throttle_time", &core::PressureSettings::throttle_time},
      {"park_effect_time", &core::PressureSettings::park_effect_time},
      {"unpark_interval", &core::PressureSettings::unpark_interval},
      {"kill_pending_time", &core::PressureSettings::kill_pending_time},
      {"memory_back_time", &core::PressureSettings::memory_back_time},
      {"cool_down_time", &core::PressureSettings::cool_down_time},
      {"longest_checkpoint_grace", &core::PressureSettings::longest_checkpoint_grace},
      {"protect_after", &core::PressureSettings::protect_after},
      {"protect_interval", &core::PressureSettings::protect_interval},
      {"young_time", &core::PressureSettings::young_time}};
  for (const auto& [key, member] : times) {
    expected.*member = seconds(++number);
    text += ", \"" + key + "\": \"" + std::to_string(number) + "s\"";
  }
  expected.calm_stall_percent = 3;
  expected.sample_interval = seconds(5);
  expected.pressed_sample_interval = milliseconds(250);
  expected.longest_park_time = hours(3);
  text += R"(, "calm_stall_percent": 3, "sample_interval": "5s", "pressed_sample_interval": "250ms",
             "longest_park_time": "3h"})";
  CHECK(parsed(text) == expected);
}

TEST_CASE("null lets a job be parked for as long as it takes again") {
  core::Settings base = core::default_settings();
  base.pressure.longest_park_time = hours(1);
  CHECK(parsed(R"({"mode": "act"})", base).longest_park_time == hours(1));
  CHECK_FALSE(parsed(R"({"longest_park_time": null})", base).longest_park_time);
}

TEST_CASE("thresholds that make no sense are refused") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"mode": "on"})", "2: pressure: mode: 'on' is no mode: act, dry-run and off are"},
      {R"({"mode": true})", "2: pressure: mode: a text was expected, this is true or false"},
      {R"({"kill_below_precent": 3})",
       "2: pressure: unknown key 'kill_below_precent': did you mean 'kill_below_percent'?"},
      {"{\n\n\"park_below_percent\": 0}", "4: pressure: park_below_percent: 0 is out of range: 1 to 100 are allowed"},
      {R"({"park_below_percent": 1.5})",
       "2: pressure: park_below_percent: a whole number was expected, this is a fraction"},
      {R"({"park_below_percent": 11})",
       "2: pressure: park_below_percent is above throttle_below_percent: each level must begin at or below the one "
       "before it"},
      {R"({"kill_below_maximum": "9G"})",
       "2: pressure: kill_below_maximum is above park_below_maximum: each level must begin at or below the one before "
       "it"},
      {R"({"watch_below_percent": 9})",
       "2: pressure: throttle_below_percent is above watch_below_percent: each level must begin at or below the one "
       "before it"},
      {R"({"emergency_below_percent": 3})",
       "2: pressure: emergency_below_percent is above kill_below_percent: each level must begin at or below the one "
       "before it"},
      {R"({"kill_stall_percent": 9})",
       "2: pressure: kill_stall_percent is below park_stall_percent: a stall would kill before it parks"},
      {R"({"calm_stall_percent": 11})",
       "2: pressure: calm_stall_percent is above throttle_stall_percent: calm must be less than what throttles"},
      {R"({"unpark_margin_percent": 9})",
       "2: pressure: unpark_margin is less than throttle_below: what is woken would at once be parked again"},
      {R"({"pressed_sample_interval": "2s"})",
       "2: pressure: pressed_sample_interval is longer than sample_interval: under pressure one looks more often"},
      {R"({"cool_down_time": 15})",
       "2: pressure: cool_down_time: a duration in quotes, as in \"30s\", was expected, this is a whole number"},
      {R"({"group_stall_time": "11m"})",
       "2: pressure: group_stall_time: '11m' is out of range: 100ms to 10m00s are allowed"},
      {R"({"time_scale_percent": 101})", "2: pressure: time_scale_percent: 101 is out of range: 1 to 100 are allowed"},
      {"7", "2: pressure: an object was expected, this is a whole number"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    const auto settings = parse(text);
    CHECK((settings ? "accepted" : settings.error().message) == "config.json:" + message);
  }
}

TEST_CASE("a bound is a share of memory, but never more than its maximum") {
  constexpr core::Bytes gibibyte = 1ULL << 30U;
  CHECK(core::bytes_of({10, 16 * gibibyte}, 2000) == 200);
  CHECK(core::bytes_of({10, 16 * gibibyte}, 99) == 9);
  CHECK(core::bytes_of({10, 16 * gibibyte}, 512 * gibibyte) == 16 * gibibyte);
  CHECK(core::bytes_of({100, core::unlimited}, core::unlimited) == core::unlimited);
}

TEST_CASE("one factor shortens every time, but none to nothing") {
  core::PressureSettings settings;
  settings.time_scale_percent = 10;
  settings.longest_park_time = hours(1);
  const auto scaled = core::scaled(settings);
  CHECK(scaled.calm_time == seconds(3));
  CHECK(scaled.group_stall_time == seconds(3));
  CHECK(scaled.longest_park_time == seconds(360));
  CHECK(scaled.pressed_sample_interval == milliseconds(10));
  CHECK(scaled.time_scale_percent == 100);
  CHECK(core::scaled(scaled) == scaled);
  CHECK(core::longest_window(scaled) == seconds(3));
  settings.time_scale_percent = 1;
  CHECK(core::scaled(settings).pressed_sample_interval == milliseconds(10));
}

}  // namespace
}  // namespace mljobd::config
