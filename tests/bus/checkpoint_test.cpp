// A job that has to give way for good, and named a signal on which it saves its work.
#include <chrono>
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "core/unit_names.hpp"
#include "fake_cgroup.hpp"
#include "house.hpp"

using namespace mljobd::test;

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t microseconds_per_second = 1'000'000;

constexpr std::uint64_t calm = 890;  // of a thousand

// A slice of all jobs that is nearly full, whatever this machine has; a job that cannot be parked, with swap or not.
class FullHouse : public House {
 public:
  explicit FullHouse(std::uint64_t grace_seconds) {
    configure(R"({"pressure": {"time_scale_percent": 50, "park_effect_time": "20s"}})");
    all.set_limit(1000 * mebibyte);
    top.set_memory(300 * mebibyte);
    victim.set_memory(600 * mebibyte);
    all.set_memory(calm * mebibyte);
    start_daemon();
    REQUIRE(running_job({}) == 1);
    using SignalAndTime = sdbus::Struct<std::int32_t, std::uint64_t>;
    REQUIRE(running_job({{"class", std::string("validate")},
                         {"parkable", false},
                         {"checkpoint_signal", SignalAndTime(10, grace_seconds * microseconds_per_second)}}) == 2);
  }

  // At 4 MiB a second, until the job is told: what is left lasts for ten seconds when nobody can be parked any more.
  bool fill_until_told() {
    const auto begin = std::chrono::steady_clock::now();
    return reaches([&] {
      const auto milliseconds =
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
      all.set_memory(calm * mebibyte + static_cast<std::uint64_t>(milliseconds) * 4 * mebibyte / 1000);
      return called(told) > 0;
    });
  }

  FakeCgroup all{directory.path() + "/cgroup", std::string(mljobd::core::root_slice)};
  FakeCgroup top = job_cgroup(directory.path(), "train", 1);
  FakeCgroup victim = job_cgroup(directory.path(), "validate", 2);
  std::string told = "KillUnit " + unit_of(2) + " main 10";
};

}  // namespace

TEST_CASE("a job is told to save its work before it is ended for others' memory, and gets its time") {
  FullHouse house(2);
  REQUIRE(house.fill_until_told());
  CHECK(house.row(2).state == "stopping");
  CHECK_FALSE(house.victim.was_killed());
  const auto events = house.events(2, "checkpoint");
  REQUIRE(events.size() == 1);
  CHECK(events.front().first == "pressure");
  CHECK_THAT(events.front().second,
             Catch::StartsWith("told to save its work (SIGUSR1): others need its memory, and it is ended in "));
  REQUIRE(house.reaches([&] { return house.victim.was_killed(); }));
  CHECK(house.called(house.told) == 1);
  CHECK_FALSE(house.top.was_killed());
  house.exits(unit_of(2), 0);
  CHECK(house.reaches([&] { return house.row(2).result == "preempted"; }));
}

TEST_CASE("the time that a job has to save its work goes on while the daemon is away, and ends as it would have") {
  FullHouse house(4);
  REQUIRE(house.fill_until_told());
  house.restart_daemon();
  CHECK(house.row(2).state == "stopping");
  CHECK_FALSE(house.victim.was_killed());
  REQUIRE(house.reaches([&] { return house.victim.was_killed(); }));
  CHECK(house.called(house.told) == 1);
  CHECK(house.events(2, "checkpoint").size() == 1);
}

TEST_CASE("a job that could save its work is ended at once when memory does not last that long") {
  FullHouse house(2);
  house.all.set_memory(995 * mebibyte);
  REQUIRE(house.reaches([&] { return house.victim.was_killed(); }));
  CHECK(house.called(house.told) == 0);
  CHECK(house.events(2, "checkpoint").empty());
}
