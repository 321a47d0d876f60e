// Growth is told from its look-alikes, course by course. Random ones are in growth_rates_test.cpp.
#include "core/growth_detector.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
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
constexpr Bytes gibi = Bytes{1} << 30;

// What an attempt needs at a minute of its life, in GiB.
using Course = std::function<double(double minute)>;

class Watched {
 public:
  explicit Watched(Course course, const GrowthSettings& settings = {}, std::optional<Microseconds> warmup = {})
      : course_(std::move(course)), settings_(settings), detector_(settings, warmup) {}

  Watched& watch_until(double minute) {
    for (; minute_ < minute; minute_ += 1.0 / 12) {
      detector_.add(moment(), needed());
      if (forecast().growth >= Growth::growing) ever_grew_ = true;
    }
    return *this;
  }
  Watched& skip_until(double minute) {
    minute_ = minute;
    return *this;
  }
  Watched& suspended_until(double minute) {
    detector_.suspend();
    watch_until(minute);
    detector_.resume();
    return *this;
  }

  [[nodiscard]] Forecast forecast(Bytes limit = 30 * gibi) const { return detector_.forecast(needed(), limit); }
  [[nodiscard]] bool ever_grew() const { return ever_grew_; }

 private:
  [[nodiscard]] BootTime moment() const {
    const auto scale = settings_.time_scale_percent / 100.0;
    return BootTime(hours(70) + Microseconds(std::llround(minute_ * 60e6 * scale)));
  }
  [[nodiscard]] Bytes needed() const { return static_cast<Bytes>(course_(minute_) * gibibyte); }

  Course course_;
  GrowthSettings settings_;
  GrowthDetector detector_;
  double minute_ = 0;
  bool ever_grew_ = false;
};

double loaded(double minute, double load_minutes = 2) { return std::clamp(minute / load_minutes, 0.0, 1.0); }
double tooth(double minute, double period) { return std::fmod(minute, period) / period; }

// 10 GiB after two minutes, and 2 GiB more each hour from the begin on.
Course drift(double begin = 0, double by_hour = 2) {
  return [=](double minute) { return 10 * loaded(minute) + by_hour * std::max(minute - begin, 0.0) / 60; };
}

TEST_CASE("what does not grow for ever is never called growth") {
  const std::vector<std::pair<std::string, Course>> courses{
      {"nothing", [](double) { return 0.0; }},
      {"flat", [](double m) { return 10 * loaded(m); }},
      {"a step up", [](double m) { return 10 * loaded(m) + (m > 80 ? 4 : 0); }},
      {"a step down", [](double m) { return 10 * loaded(m) - (m > 80 ? 4 : 0); }},
      {"a step that takes three minutes", [](double m) { return 10 * loaded(m) + 4 * loaded(m - 80, 3); }},
      {"short teeth", [](double m) { return 10 * loaded(m) + 3 * tooth(m, 0.7); }},
      {"teeth of four minutes", [](double m) { return 10 * loaded(m) + 3 * tooth(m, 4); }},
      {"teeth of seventeen minutes", [](double m) { return 10 * loaded(m) + 3 * tooth(m, 17); }},
      {"a cache that fills up", [](double m) { return 10 * loaded(m) + 6 * (1 - std::exp(-m / 15)); }},
      {"a data set that loads for 50 minutes", [](double m) { return 10 * loaded(m, 50); }},
      {"a process that is started again",
       [](double m) { return m < 90 ? 10 * loaded(m) : 0.5 + 9.5 * loaded(m - 90, 12); }},
      {"falling", [](double m) { return 10 * loaded(m) - m / 60; }},
  };
  for (const auto& [name, course] : courses) {
    INFO(name);
    Watched watched(course);
    watched.watch_until(240);
    CHECK_FALSE(watched.ever_grew());
    CHECK(watched.forecast().growth == Growth::steady);
    CHECK_FALSE(watched.forecast().time_to_limit);
  }
}

TEST_CASE("a drift is told within half an hour, with its pace") {
  const std::vector<std::pair<std::string, Course>> courses{
      {"alone", drift(60)},
      {"from the beginning", drift()},
      {"below short teeth", [](double m) { return drift(60)(m) + 3 * tooth(m, 0.7); }},
      {"below teeth of four minutes", [](double m) { return drift(60)(m) + 3 * tooth(m, 4); }},
      {"after a step", [](double m) { return drift(60)(m) + (m > 55 ? 4 : 0); }},
      {"after the process was started again",
       [](double m) {
         return m < 70 ? 10 * loaded(m) : 0.5 + 9.5 * loaded(m - 70, 3) + 2 * std::max(m - 73, 0.0) / 60;
       }},
  };
  for (const auto& [name, course] : courses) {
    INFO(name);
    Watched watched(course);
    watched.watch_until(name == "from the beginning" ? 40 : name.starts_with("after the process") ? 110 : 91);
    CHECK(watched.forecast().growth == Growth::growing);
    CHECK(watched.forecast().bytes_per_hour == Approx(2 * gibibyte).epsilon(0.25));
  }
}

TEST_CASE("before the warm-up is over and a window is full nothing is said") {
  Watched watched(drift(0, 60));
  CHECK(watched.watch_until(29).forecast() == Forecast{});
  CHECK(watched.watch_until(35).forecast().growth == Growth::growing);
}

TEST_CASE("a job's own warm-up takes the place of the usual one") {
  const Course slow_load = [](double m) { return 10 * loaded(m, 30) + 2 * std::max(m - 30, 0.0) / 60; };
  CHECK(Watched(slow_load, {}, minutes(0)).watch_until(29).ever_grew());
  Watched longer(drift(), {}, minutes(90));
  CHECK(longer.watch_until(105).forecast() == Forecast{});
  CHECK(longer.watch_until(120).forecast().growth == Growth::growing);
}

TEST_CASE("what rises from nothing without an end is waited for only so long") {
  Watched watched([](double m) { return m / 5; });
  CHECK(watched.watch_until(60).forecast() == Forecast{});
  CHECK(watched.watch_until(70).forecast().growth == Growth::growing);
}

TEST_CASE("the forecast says when the limit is met, and how urgent that is") {
  Watched watched(drift());
  const auto at = [&](double minute, double gibibytes) {
    return watched.watch_until(minute).forecast(static_cast<Bytes>(gibibytes * gibibyte));
  };
  // 12 GiB at minute 60, 2 GiB an hour.
  auto forecast = at(60, 15);
  REQUIRE(forecast.time_to_limit);
  CHECK(*forecast.time_to_limit > minutes(88));
  CHECK(*forecast.time_to_limit < minutes(92));
  CHECK(forecast.earliest <= forecast.time_to_limit);
  CHECK(forecast.latest >= forecast.time_to_limit);
  CHECK(forecast.severity == Severity::none);
  CHECK(at(60, 13.9).severity == Severity::warning);
  CHECK(at(60, 12.3).severity == Severity::critical);
  CHECK(at(60, 12).time_to_limit == Microseconds(0));
  CHECK(at(60, 9).time_to_limit == Microseconds(0));
}

TEST_CASE("a limit that is too far away is not told") {
  GrowthSettings settings;
  settings.shown = hours(2);
  Watched watched(drift(), settings);
  watched.watch_until(60);
  CHECK(watched.forecast(15 * gibi).time_to_limit);
  CHECK_FALSE(watched.forecast(17 * gibi).time_to_limit);
  CHECK(watched.forecast(17 * gibi).growth == Growth::growing);
}

TEST_CASE("the limit is met by the top of a tooth") {
  Watched watched([](double m) { return drift()(m) + 3 * tooth(m, 4); });
  watched.watch_until(60);  // at a trough
  const auto forecast = watched.forecast(16 * gibi);
  REQUIRE(forecast.time_to_limit);
  CHECK(*forecast.time_to_limit < minutes(35));  // not 120
}

TEST_CASE("without a limit there is growth but no forecast, and a limit of nothing is met at once") {
  Watched watched(drift());
  watched.watch_until(60);
  CHECK(watched.forecast(unlimited).growth == Growth::growing);
  CHECK_FALSE(watched.forecast(unlimited).time_to_limit);
  CHECK(watched.forecast(0).time_to_limit == Microseconds(0));
  CHECK(watched.forecast(0).severity == Severity::critical);
}

TEST_CASE("growth that is small beside the limit is not told") {
  Watched watched(drift(0, 0.5));
  watched.watch_until(90);
  CHECK(watched.forecast(12 * gibi).growth == Growth::growing);
  CHECK(watched.forecast(90 * gibi).growth == Growth::steady);
}

TEST_CASE("a leak is suspected after two hours of the same growth") {
  Watched watched(drift(20));
  CHECK(watched.watch_until(100).forecast().growth == Growth::growing);
  CHECK(watched.watch_until(160).forecast().growth == Growth::leak_suspect);
}

TEST_CASE("stairs are growth, too, seen over two hours") {
  Watched watched([](double m) { return 10 * loaded(m) + 0.5 * std::floor(m / 10); });
  watched.watch_until(170);
  CHECK(watched.ever_grew());
  CHECK(watched.forecast().bytes_per_hour == Approx(3 * gibibyte).epsilon(0.3));
}

TEST_CASE("what is claimed is taken back when the growth ends") {
  Watched watched([](double m) { return 10 * loaded(m) + 4 * loaded(m - 30, 60); });
  CHECK(watched.watch_until(85).forecast().growth == Growth::growing);
  CHECK(watched.watch_until(125).forecast().growth == Growth::steady);
}

TEST_CASE("memory that comes back takes the claim with it") {
  Watched watched([](double m) { return m < 80 ? drift(20, 8)(m) : 11; });
  CHECK(watched.watch_until(79).forecast().growth == Growth::growing);
  CHECK(watched.watch_until(83).forecast().growth != Growth::growing);
}

TEST_CASE("suspended time does not pass") {
  // It is frozen from minute 50 to 140, and grows again after that.
  Watched watched([](double m) { return drift()(m < 50 ? m : std::max(m - 90, 50.0)); });
  watched.watch_until(50);
  watched.suspended_until(140);
  watched.watch_until(150);
  CHECK(watched.forecast().growth == Growth::growing);
  CHECK(watched.forecast().bytes_per_hour == Approx(2 * gibibyte).epsilon(0.05));
}

TEST_CASE("what happens while suspended is not looked at") {
  Watched watched([](double m) { return m > 60 && m < 70 ? 90.0 : 10 * loaded(m); });
  watched.watch_until(60);
  watched.suspended_until(70);
  watched.watch_until(120);
  CHECK_FALSE(watched.ever_grew());
}

TEST_CASE("over a gap without samples the growth went on") {
  Watched watched(drift());
  watched.watch_until(60);
  watched.skip_until(75);
  watched.watch_until(86);
  CHECK(watched.forecast().growth == Growth::growing);
  CHECK(watched.forecast().bytes_per_hour == Approx(2 * gibibyte).epsilon(0.05));
}

TEST_CASE("one factor makes the whole night shorter") {
  for (const std::uint32_t percent : {50U, 2U, 1U}) {
    INFO(percent);
    Watched fast(drift(), {.time_scale_percent = percent});
    Watched usual(drift());
    const auto expected = usual.watch_until(60).forecast(13 * gibi);
    const auto forecast = fast.watch_until(60).forecast(13 * gibi);
    CHECK(forecast.growth == expected.growth);
    CHECK(forecast.severity == expected.severity);
    CHECK(forecast.bytes_per_hour == Approx(expected.bytes_per_hour * 100 / percent).epsilon(0.02));
    REQUIRE(forecast.time_to_limit);
    CHECK(static_cast<double>(forecast.time_to_limit->count()) ==
          Approx(static_cast<double>(expected.time_to_limit->count()) * percent / 100).epsilon(0.02));
  }
}

TEST_CASE("without a sample nothing is known") {
  GrowthDetector detector(GrowthSettings{});
  CHECK(detector.forecast(0, 0) == Forecast{});
  detector.suspend();
  detector.add(BootTime(hours(1)), gibi);
  CHECK(detector.forecast(gibi, gibi) == Forecast{});
}

TEST_CASE("a clock that stands still, goes back or leaps does no harm") {
  GrowthDetector detector(GrowthSettings{});
  for (int i = 0; i < 10000; ++i) detector.add(BootTime(hours(1)), gibi + static_cast<Bytes>(i) * 4096);
  CHECK(detector.forecast(gibi, 2 * gibi) == Forecast{});
  for (int i = 0; i < 10000; ++i) detector.add(BootTime(hours(1) - seconds(i)), gibi);
  CHECK(detector.forecast(gibi, 2 * gibi) == Forecast{});
  detector.add(BootTime::min(), gibi);
  detector.add(BootTime::max(), gibi);
  detector.add(BootTime::max(), gibi);
  CHECK(detector.forecast(gibi, 2 * gibi) == Forecast{});
  GrowthDetector from_the_first(GrowthSettings{});
  from_the_first.add(BootTime::min(), gibi);
  from_the_first.add(BootTime::max(), gibi);
  from_the_first.add(BootTime::max(), gibi);
  CHECK(from_the_first.forecast(gibi, 2 * gibi) == Forecast{});
}

TEST_CASE("the largest numbers make no nonsense") {
  constexpr auto most = std::numeric_limits<Bytes>::max();
  GrowthDetector detector(GrowthSettings{}, minutes(0));
  constexpr std::uint64_t samples = 12 * 60;
  for (std::uint64_t i = 0; i < samples; ++i) {
    detector.add(BootTime(seconds(5 * i)), most - (samples - i) * (most >> 12U));
  }
  for (const Bytes limit : {Bytes{0}, gibi, most - 1, most}) {
    const auto forecast = detector.forecast(most - 1, limit);
    CHECK(forecast.growth == Growth::growing);
    CHECK(std::isfinite(forecast.bytes_per_hour));
  }
  GrowthDetector leaping(GrowthSettings{}, minutes(0));
  for (int i = 0; i < 12 * 60; ++i) leaping.add(BootTime(seconds(5 * i)), (i / 12) % 2 == 0 ? 0 : most);
  CHECK(leaping.forecast(0, most - 1).growth != Growth::growing);
}

TEST_CASE("a detector is as small as it says") { CHECK(sizeof(GrowthDetector) <= 2048); }

}  // namespace
}  // namespace mljobd::core
