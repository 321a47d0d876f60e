// When growth is told, as the administrator writes it.
#include "core/growth_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "config/config.hpp"

namespace mljobd::config {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

core::Expected<core::Settings> parse(const std::string& growth, core::Settings base = core::default_settings()) {
  return parse_settings("{\n\"growth\": " + growth + "}", "config.json", std::move(base));
}

core::GrowthSettings parsed(const std::string& growth, core::Settings base = core::default_settings()) {
  const auto settings = parse(growth, std::move(base));
  if (!settings) FAIL(settings.error().message);
  return settings->growth;
}

TEST_CASE("each key of growth changes its own value") {
  CHECK(parsed("{}") == core::GrowthSettings{});
  CHECK(parsed(R"({"sample": "2s", "bucket": "30s", "warmup": "5m", "longest_warmup": "2h", "minimum_slope": "1G",
                   "minimum_slope_percent": 2.5, "minimum_rise": "2G", "minimum_rise_percent": 0, "jump_z": 5,
                   "p_value": 0.001, "warning": "2h", "critical": "30m", "shown": "2d", "time_scale_percent": 2})") ==
        core::GrowthSettings{.sample = seconds(2),
                             .bucket = seconds(30),
                             .warmup = minutes(5),
                             .longest_warmup = hours(2),
                             .minimum_slope = 1ULL << 30U,
                             .minimum_slope_percent = 2.5,
                             .minimum_rise = 2ULL << 30U,
                             .minimum_rise_percent = 0,
                             .jump_z = 5,
                             .p_value = 0.001,
                             .warning = hours(2),
                             .critical = minutes(30),
                             .shown = hours(48),
                             .time_scale_percent = 2});
}

TEST_CASE("a layer of growth changes only what it names") {
  core::Settings base = core::default_settings();
  base.growth.warning = hours(2);
  const auto growth = parsed(R"({"critical": "20m"})", base);
  CHECK(growth.warning == hours(2));
  CHECK(growth.critical == minutes(20));
}

TEST_CASE("mistakes in growth are named") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"warnings": "1h"})", "2: growth: unknown key 'warnings': did you mean 'warning'?"},
      {R"({"p_value": "small"})", "2: growth: p_value: a number was expected, this is a text"},
      {R"({"p_value": 0.5})", "2: growth: p_value: 0.5 is out of range: 1e-06 to 0.2 are allowed"},
      {R"({"minimum_rise_percent": -1})", "2: growth: minimum_rise_percent: -1 is out of range: 0 to 100 are allowed"},
      {R"({"time_scale_percent": 0})", "2: growth: time_scale_percent: 0 is out of range: 1 to 100 are allowed"},
      {R"({"minimum_slope": "unlimited"})",
       "2: growth: minimum_slope: 'unlimited' is out of range: 1M to 1.0P are allowed"},
      {R"({"sample": "500ms", "time_scale_percent": 1})",
       "2: growth: with a time_scale_percent of 1 sample must be at least 1s, not 500ms"},
      {R"({"sample": "50s"})", "2: growth: sample must be at most 30s, half of bucket, not 50s"},
      {R"({"bucket": "5s"})", "2: growth: sample must be at most 2s, half of bucket, not 5s"},
      {R"({"warmup": "1h"})", "2: growth: warmup must be at most 45m00s, like longest_warmup, not 1h00m"},
      {R"({"critical": "2h"})", "2: growth: critical must be at most 1h00m, like warning, not 2h00m"},
      {R"({"shown": "30m"})", "2: growth: warning must be at most 30m00s, like shown, not 1h00m"},
  };
  for (const auto& [text, reason] : cases) {
    const auto settings = parse(text);
    REQUIRE_FALSE(settings);
    CHECK(settings.error().code == core::ErrorCode::invalid_config);
    CHECK(settings.error().message == "config.json:" + reason);
  }
}

}  // namespace
}  // namespace mljobd::config
