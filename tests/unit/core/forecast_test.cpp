// A forecast as the dictionary on the bus, and as a person reads it.
#include "core/forecast.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace mljobd::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using Growth = Forecast::Growth;
using Severity = Forecast::Severity;

constexpr double gibibyte = 1024.0 * 1024 * 1024;

Forecast growing(Microseconds time, std::optional<Microseconds> earliest, std::optional<Microseconds> latest) {
  return {.growth = Growth::growing,
          .bytes_per_hour = 3.1 * gibibyte,
          .time_to_limit = time,
          .earliest = earliest,
          .latest = latest};
}

TEST_CASE("a forecast is a dictionary of what is known") {
  CHECK(to_values(Forecast{}) ==
        ValueMap{{"growth", "learning"}, {"bytes_per_hour", std::int64_t{0}}, {"severity", "none"}});
  auto forecast = growing(minutes(14), minutes(11), minutes(19));
  forecast.severity = Severity::warning;
  forecast.bytes_per_hour = 1000.9;
  CHECK(to_values(forecast) == ValueMap{{"growth", "growing"},
                                        {"bytes_per_hour", std::int64_t{1000}},
                                        {"severity", "warning"},
                                        {"time_to_limit", std::uint64_t{840'000'000}},
                                        {"earliest", std::uint64_t{660'000'000}},
                                        {"latest", std::uint64_t{1'140'000'000}}});
}

TEST_CASE("the dictionary leads back to the forecast") {
  for (const auto growth : {Growth::learning, Growth::steady, Growth::growing, Growth::leak_suspect}) {
    for (const auto severity : {Severity::none, Severity::warning, Severity::critical}) {
      Forecast forecast = growing(minutes(14), minutes(11), std::nullopt);
      forecast.growth = growth;
      forecast.severity = severity;
      forecast.bytes_per_hour = -5;
      CHECK(forecast_from(to_values(forecast)) == forecast);
    }
  }
}

TEST_CASE("what another version sends is taken as far as it is understood") {
  CHECK(forecast_from({}) == Forecast{});
  CHECK(forecast_from({{"growth", "shrinking"},
                       {"severity", std::int64_t{3}},
                       {"bytes_per_hour", "many"},
                       {"time_to_limit", std::numeric_limits<std::uint64_t>::max()},
                       {"unit", "GiB"}}) == Forecast{});
}

TEST_CASE("numbers that are none are told as none") {
  Forecast forecast{.bytes_per_hour = std::numeric_limits<double>::quiet_NaN()};
  CHECK(forecast_from(to_values(forecast)).bytes_per_hour == 0);
  forecast.bytes_per_hour = std::numeric_limits<double>::infinity();
  CHECK(forecast_from(to_values(forecast)).bytes_per_hour > 9e18);
  forecast.growth = Growth::growing;
  CHECK(describe(forecast) == "+8.0E/h");
}

TEST_CASE("a person reads growth, when the limit is met, and how certain that is") {
  const std::vector<std::pair<Forecast, std::string>> cases{
      {growing(minutes(14), minutes(11), minutes(19)), "+3.1G/h, limit in 14 min (11–19)"},
      {growing(minutes(14) + seconds(40), minutes(11) + seconds(29), minutes(19)), "+3.1G/h, limit in 15 min (11–19)"},
      {growing(hours(3) + minutes(20), hours(2) + minutes(50), hours(4) + minutes(10)),
       "+3.1G/h, limit in 3h20m (2h50m–4h10m)"},
      {growing(minutes(90), minutes(80), minutes(130)), "+3.1G/h, limit in 1h30m (1h20m–2h10m)"},
      {growing(minutes(30), minutes(20), std::nullopt), "+3.1G/h, limit in 30 min (from 20)"},
      {growing(minutes(30), std::nullopt, std::nullopt), "+3.1G/h, limit in 30 min"},
      {growing(seconds(59), seconds(5), minutes(2)), "+3.1G/h, limit in less than a minute"},
      {Forecast{.growth = Growth::growing, .bytes_per_hour = 64 << 20}, "+64M/h"},
      {Forecast{.growth = Growth::growing, .bytes_per_hour = -5}, "+0B/h"},
      {Forecast{.growth = Growth::leak_suspect, .bytes_per_hour = gibibyte, .time_to_limit = hours(20)},
       "suspected leak: +1.0G/h, limit in 20h00m"},
      {Forecast{.growth = Growth::steady, .bytes_per_hour = 1e6}, ""},
      {Forecast{}, ""},
  };
  for (const auto& [forecast, text] : cases) CHECK(describe(forecast) == text);
}

}  // namespace
}  // namespace mljobd::core
