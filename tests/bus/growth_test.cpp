// A job whose memory grows, as a user and a program see it: on the bus, in the events, and in the signal to the job.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "fake_cgroup.hpp"
#include "house.hpp"

using namespace mljobd::test;

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t microseconds_per_second = 1'000'000;

// An hour is 36 s, a bucket a fifth of a second. Nothing is done about pressure, and growth is seen all the same.
constexpr const char* fast_growth =
    R"({"pressure": {"mode": "off"}, "growth": {"time_scale_percent": 1, "bucket": "20s", "sample": "5s"}})";

House::Dictionary checkpointed() {
  using SignalAndTime = sdbus::Struct<std::int32_t, std::uint64_t>;
  return {{"warmup", std::uint64_t{30 * microseconds_per_second}},
          {"checkpoint_signal", SignalAndTime(10, 60 * microseconds_per_second)}};
}

// 50 MiB a second, from 1 GiB on, whatever the case is waiting for.
class Drift {
 public:
  explicit Drift(const FakeCgroup& group) : group_(group) { go_on(); }

 private:
  void go_on() const {
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin_).count();
    group_.set_memory(1024 * mebibyte + static_cast<std::uint64_t>(milliseconds) * mebibyte / 20);
  }

  const FakeCgroup& group_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::jthread thread_{[this](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(20))) go_on();
  }};
};

// What others on the bus hear of job 1.
class Listener {
 public:
  explicit Listener(const PrivateBus& bus)
      : link_(bus.connect()),
        manager_(sdbus::createProxy(*link_, "org.mljobd1", "/org/mljobd1")),
        job_(sdbus::createProxy(*link_, "org.mljobd1", "/org/mljobd1/job/1")) {
    using Dictionary = House::Dictionary;
    manager_->uponSignal("ForecastChanged")
        .onInterface("org.mljobd1.Manager")
        .call([this](std::uint32_t id, const sdbus::ObjectPath&, const std::string& word, const Dictionary&) {
          if (id == 1) news.push_back(word);
        });
    manager_->finishRegistration();
    job_->uponSignal("PropertiesChanged")
        .onInterface("org.freedesktop.DBus.Properties")
        .call([this](const std::string&, const Dictionary& values, const std::vector<std::string>&) {
          if (values.contains("Forecast")) ++forecasts;
        });
    job_->finishRegistration();
  }

  void listen() const {
    while (link_->processPendingRequest()) continue;
  }

  std::vector<std::string> news{};
  int forecasts = 0;

 private:
  std::unique_ptr<sdbus::IConnection> link_;
  std::unique_ptr<sdbus::IProxy> manager_;
  std::unique_ptr<sdbus::IProxy> job_;
};

std::ptrdiff_t count_of(const std::vector<std::pair<std::string, std::string>>& events, const std::string& reason) {
  return std::count_if(events.begin(), events.end(), [&](const auto& event) { return event.first == reason; });
}

const std::string checkpoint_call = "KillUnit " + unit_of(1) + " main 10";

}  // namespace

TEST_CASE("a job that grows towards its limit is told of, and told once to save its work, also by the next daemon") {
  House house;
  house.configure(fast_growth);
  const auto group = job_cgroup(house.directory.path(), "train", 1);
  group.set_limit(1600 * mebibyte);
  const Drift drift(group);
  house.start_daemon();
  REQUIRE(house.running_job(checkpointed()) == 1);
  Listener listener(house.bus);
  const auto told = [&](const std::string& reason, std::ptrdiff_t times) {
    return house.reaches([&] {
      listener.listen();
      return count_of(house.events(1, "forecast"), reason) >= times;
    });
  };
  INFO("mljobd: " << house.daemon->output());
  REQUIRE(told("critical", 1));
  REQUIRE(house.is_called(checkpoint_call));

  const auto forecast = house.forecast(1);
  CHECK(forecast.at("growth").get<std::string>() == "growing");
  CHECK(forecast.at("severity").get<std::string>() == "critical");
  CHECK(forecast.at("time_to_limit").get<std::uint64_t>() < 6 * microseconds_per_second);
  CHECK(forecast.at("bytes_per_hour").get<std::int64_t>() == Approx(50.0 * 3600 * mebibyte).epsilon(0.3));
  CHECK(house.list({{"ids", std::vector<std::uint32_t>{1}}})
            .front()
            .at("forecast")
            .get<House::Dictionary>()
            .contains("time_to_limit"));

  const auto events = house.events(1, "forecast");
  CHECK(count_of(events, "growing") >= 1);
  CHECK_THAT(events.back().second, Catch::StartsWith("its memory limit is very near: +"));
  const auto checkpoints = house.events(1, "checkpoint");
  REQUIRE(checkpoints.size() == 1);
  CHECK(checkpoints.front().first == "growth");
  CHECK_THAT(checkpoints.front().second, Catch::StartsWith("told to save its work (SIGUSR1): +"));
  REQUIRE(house.reaches([&] {
    listener.listen();
    return listener.news.size() == events.size();
  }));
  CHECK(listener.news.back() == "critical");
  // Five seconds are a hundred looks.
  CHECK(listener.forecasts >= 1);
  CHECK(listener.forecasts < 50);

  house.restart_daemon();
  REQUIRE(told("critical", 2));
  settle(house.loop);
  CHECK(house.called(checkpoint_call) == 1);
  CHECK(house.events(1, "checkpoint").size() == 1);

  house.exits(unit_of(1), 0);
  REQUIRE(house.reaches(1, "finished done 0"));
  CHECK(house.forecast(1).empty());
}

TEST_CASE("a job whose memory stands still has a forecast, and nothing is told of it") {
  House house;
  house.configure(fast_growth);
  const auto group = job_cgroup(house.directory.path(), "train", 1);
  group.set_limit(1600 * mebibyte);
  group.set_memory(1500 * mebibyte);
  house.start_daemon();
  REQUIRE(house.running_job(checkpointed()) == 1);
  REQUIRE(house.reaches([&] {
    const auto forecast = house.forecast(1);
    return !forecast.empty() && forecast.at("growth").get<std::string>() == "steady";
  }));
  CHECK(house.forecast(1).at("bytes_per_hour").get<std::int64_t>() == 0);
  CHECK(house.events(1, "forecast").empty());
  CHECK(house.called(checkpoint_call) == 0);
}
