// Starts that systemd refuses, answers late, or answers in another order than usual.
#include <catch2/catch.hpp>

#include "house.hpp"

using namespace mljobd::test;

namespace {

constexpr std::uint32_t first = 1;
const std::string start_call = "StartTransientUnit " + unit_of(first);

}  // namespace

TEST_CASE("a start that systemd refuses ends the job in systemd's own words") {
  House house;
  house.start_daemon();
  house.on_start = [](const std::string&) -> std::string {
    throw sdbus::Error("org.freedesktop.DBus.Error.PropertyReadOnly", "Cannot set property MemoryZSwapMax.");
  };
  const auto id = house.submit();
  REQUIRE(house.reaches(id, "finished start-failed -1"));
  const auto row = house.row(id);
  CHECK(row.cause == "start");
  CHECK_THAT(row.advice, Catch::Contains("Cannot set property MemoryZSwapMax."));

  house.on_start = [&](const std::string& unit) { return house.start_unit(unit); };
  CHECK(house.reaches(house.submit(), "running"));
}

TEST_CASE("the end of systemd's job may overtake the answer to the start") {
  House house;
  house.start_daemon();
  house.on_start = [&](const std::string& unit) {
    const auto path = house.new_job_path();
    house.systemd->set_unit(unit, {});
    house.systemd->announce(unit);
    house.systemd->job_removed(path, unit, "done");
    return path;
  };
  CHECK(house.reaches(house.submit(), "running"));
}

TEST_CASE("a job is starting for as long as systemd takes to answer") {
  House house;
  house.start_daemon();
  house.systemd->answers = false;
  const auto id = house.submit();
  REQUIRE(house.is_called(start_call));
  const auto later = house.loop.now().boot + std::chrono::seconds(2);
  REQUIRE(house.reaches([&] { return house.loop.now().boot > later; }));
  CHECK(house.row(id).summary() == "starting");
  house.systemd->answers = true;
  house.systemd->answer_held();
  CHECK(house.reaches(id, "running"));
  CHECK(house.called(start_call) == 1);
}

TEST_CASE("a job that is cancelled before systemd answers the start ends as cancelled") {
  House house;
  house.start_daemon();
  house.systemd->answers = false;
  const auto id = house.submit();
  REQUIRE(house.is_called(start_call));
  CHECK(house.cancel(id).empty());
  REQUIRE(house.is_called("StopUnit " + unit_of(id)));
  CHECK(house.row(id).summary() == "stopping");
  house.systemd->answers = true;
  house.systemd->answer_held();
  REQUIRE(house.reaches(id, "finished cancelled -1"));
  CHECK(house.row(id).cause == "user");
  CHECK(house.called(start_call) == 1);
}

TEST_CASE("a stop takes the place of a start that systemd has not finished") {
  House house;
  house.start_daemon();
  std::string start_path;
  house.on_start = [&](const std::string& unit) {
    house.systemd->set_unit(unit, {.active = "activating", .sub = "start"});
    house.systemd->after_answer([&, unit] { house.systemd->announce(unit); });
    return start_path = house.new_job_path();
  };
  house.on_stop = [&](const std::string& unit) {
    house.systemd->after_answer([&, unit] { house.systemd->job_removed(start_path, unit, "canceled"); });
    return house.stop_unit(unit);
  };
  const auto id = house.submit();
  REQUIRE(house.is_called(start_call));
  settle(house.loop);
  CHECK(house.row(id).summary() == "starting");
  CHECK(house.cancel(id).empty());
  REQUIRE(house.reaches(id, "finished cancelled -1"));
  CHECK(house.row(id).cause == "user");
}

TEST_CASE("a unit that fails before its start is reported as done ends with its own exit code") {
  const bool before_the_answer = GENERATE(true, false);
  const std::string start_result = GENERATE("done", "failed");
  CAPTURE(before_the_answer, start_result);
  House house;
  house.start_daemon();
  house.on_start = [&](const std::string& unit) {
    const auto path = house.new_job_path();
    const auto tell = [&, unit, path] {
      house.exits(unit, 3);
      house.systemd->job_removed(path, unit, start_result);
    };
    before_the_answer ? tell() : house.systemd->after_answer(tell);
    return path;
  };
  const auto id = house.submit();
  REQUIRE(house.reaches(id, "finished failed 3"));
  CHECK(house.row(id).cause == "exit");
}
