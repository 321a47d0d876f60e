#include "core/growth_report.hpp"

#include <chrono>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

using namespace mljobd::core;
using namespace std::chrono_literals;

namespace {

using Growth = Forecast::Growth;
using Severity = Forecast::Severity;
using News = std::vector<GrowthNews>;

constexpr double gigabyte = 1024.0 * 1024 * 1024;

Forecast growing(std::optional<Microseconds> left, Growth growth = Growth::growing) {
  Forecast forecast{.growth = growth, .bytes_per_hour = gigabyte, .time_to_limit = left};
  if (left && *left < 10min) {
    forecast.severity = Severity::critical;
  } else if (left && *left < 60min) {
    forecast.severity = Severity::warning;
  }
  return forecast;
}

Forecast steady() { return {.growth = Growth::steady, .bytes_per_hour = gigabyte / 100}; }

// A look every five seconds.
class Told {
 public:
  GrowthReport::Change hear(const Forecast& forecast) { return report_.hear(now_ += 5s, forecast); }
  News news(const Forecast& forecast) { return hear(forecast).news; }
  void wait(Microseconds time) { now_ += time; }
  [[nodiscard]] const Forecast& shown() const { return report_.shown(); }

 private:
  GrowthReport report_{GrowthSettings{}};
  BootTime now_{1h};
};

}  // namespace

TEST_CASE("growth is told once at each turn, from its beginning to its end") {
  Told told;
  CHECK(told.news({}).empty());
  CHECK(told.news(steady()).empty());
  CHECK(told.news(growing(5h)) == News{GrowthNews::growing});
  CHECK(told.news(growing(4h)).empty());
  CHECK(told.news(growing(3h, Growth::leak_suspect)) == News{GrowthNews::leak_suspect});
  CHECK(told.news(growing(59min, Growth::leak_suspect)).empty());
  CHECK(told.news(growing(58min)) == News{GrowthNews::warning});
  CHECK(told.news(growing(61min, Growth::leak_suspect)).empty());
  CHECK(told.news(growing(50min, Growth::leak_suspect)).empty());
  CHECK(told.news(growing(9min)).empty());
  CHECK(told.news(growing(8min)) == News{GrowthNews::critical});
  CHECK(told.news(growing(11min)).empty());
  CHECK(told.news(growing(7min)).empty());
  CHECK(told.news(steady()) == News{GrowthNews::over});
  CHECK(told.news(steady()).empty());
  CHECK(told.news(growing(5h)) == News{GrowthNews::growing});
}

TEST_CASE("a machine that lacks memory for a moment makes no news") {
  Told told;
  CHECK(told.news(growing(5h)) == News{GrowthNews::growing});
  CHECK(told.news(growing(2min)).empty());
  CHECK(told.news(growing(5h)).empty());
  CHECK(told.news(growing(2min)).empty());
  CHECK(told.news(growing(2min)) == News{GrowthNews::critical});
}

TEST_CASE("what is told first is the worst of it") {
  Told told;
  CHECK(told.news(growing(2h, Growth::leak_suspect)) == News{GrowthNews::leak_suspect});
  told.hear(growing(5min, Growth::leak_suspect));
  CHECK(told.news(growing(5min, Growth::leak_suspect)) == News{GrowthNews::critical});
  CHECK(told.news(growing(30min, Growth::leak_suspect)).empty());
}

TEST_CASE("a limit that was moved away is warned of again when it comes near") {
  Told told;
  told.hear(growing(5min));
  told.hear(growing(5min));
  CHECK(told.news(growing(10h)).empty());
  CHECK(told.news(growing(50min)).empty());
  CHECK(told.news(growing(50min)) == News{GrowthNews::warning});
  CHECK(told.news(growing(9min)).empty());
  CHECK(told.news(growing(9min)) == News{GrowthNews::critical});
}

TEST_CASE("the shown forecast follows what means something else, at most once a minute") {
  Told told;
  CHECK(told.hear({}).shown);  // that it is watched at all
  CHECK_FALSE(told.hear(steady()).shown);
  told.wait(1min);
  CHECK(told.hear(steady()).shown);
  CHECK(told.shown().bytes_per_hour == 0);
  CHECK_FALSE(told.hear(steady()).shown);
  CHECK(told.hear(growing(5h)).shown);  // news does not wait
  told.wait(1min);
  CHECK_FALSE(told.hear(growing(290min)).shown);
  CHECK(told.hear(growing(260min)).shown);
  CHECK_FALSE(told.hear(growing(100min)).shown);
  CHECK(told.shown().time_to_limit == 260min);
  told.wait(1min);
  CHECK(told.hear(growing(100min)).shown);
  told.wait(1min);
  CHECK(told.hear(growing(std::nullopt)).shown);
}

TEST_CASE("in tests, whose hours are shorter, forecasts are shown as often") {
  GrowthReport report{GrowthSettings{.time_scale_percent = 1}};
  BootTime now{1h};
  auto forecast = growing(36s);  // an hour
  forecast.severity = Severity::none;
  CHECK(report.hear(now += 50ms, forecast).shown);
  forecast.time_to_limit = 30s;
  CHECK_FALSE(report.hear(now += 50ms, forecast).shown);
  CHECK(report.hear(now += 600ms, forecast).shown);
}

TEST_CASE("news is a sentence with the forecast") {
  CHECK(describe(GrowthNews::growing, growing(5h)) == "its memory grows: +1.0G/h, limit in 5h00m");
  CHECK(describe(GrowthNews::leak_suspect, growing(std::nullopt, Growth::leak_suspect)) ==
        "its memory grows on: suspected leak: +1.0G/h");
  CHECK(describe(GrowthNews::warning, growing(50min)) == "its memory limit is near: +1.0G/h, limit in 50 min");
  CHECK(describe(GrowthNews::critical, growing(5min)) == "its memory limit is very near: +1.0G/h, limit in 5 min");
  CHECK(describe(GrowthNews::over, steady()) == "its memory grows no longer");
}

TEST_CASE("the words of growth") {
  CHECK(to_word(GrowthNews::growing) == "growing");
  CHECK(to_word(GrowthNews::leak_suspect) == "leak-suspect");
  CHECK(to_word(GrowthNews::warning) == "warning");
  CHECK(to_word(GrowthNews::critical) == "critical");
  CHECK(to_word(GrowthNews::over) == "over");
}
