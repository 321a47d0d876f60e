// The daemon is killed at a step of a job's life, and starts again where it stood.
#include <catch2/catch.hpp>

#include "house.hpp"

using namespace mljobd::test;

namespace {

struct Row {
  const char* what;
  FakeUnit unit;
  const char* summary;
  const char* cause;
};

const Row table[] = {{"it runs", {}, "running", ""},
                     {"it ended with code 7", exited_unit(7), "finished failed 7", "exit"},
                     {"it ended well", exited_unit(0), "finished done 0", ""},
                     {"it is gone", unknown_unit(), "finished lost -1", "unknown"}};

}  // namespace

TEST_CASE("a job that ran when the daemon was killed is what systemd says of it afterwards") {
  for (const auto& [what, unit, summary, cause] : table) {
    CAPTURE(what);
    House house;
    house.start_daemon();
    const auto id = house.running_job();
    house.kill_daemon();
    house.systemd->set_unit(unit_of(id), unit);
    house.start_daemon();
    REQUIRE(house.reaches(id, summary));
    CHECK(house.row(id).cause == cause);
    settle(house.loop);
    CHECK(house.row(id).summary() == summary);
    CHECK(house.called("StartTransientUnit " + unit_of(id)) == 1);
  }
}

TEST_CASE("a start that systemd had carried out when the daemon was killed is not repeated") {
  for (const auto& [what, unit, summary, cause] : table) {
    if (unit.load == "not-found") continue;
    CAPTURE(what);
    House house;
    house.start_daemon();
    house.systemd->answers = false;
    const auto id = house.submit();
    REQUIRE(house.is_called("StartTransientUnit " + unit_of(id)));
    house.kill_daemon();
    house.systemd->set_unit(unit_of(id), unit);
    house.systemd->answers = true;
    house.start_daemon();
    REQUIRE(house.reaches(id, summary));
    CHECK(house.called("StartTransientUnit " + unit_of(id)) == 1);
    CHECK(house.row(id).attempt == 1);
  }
}

TEST_CASE("a start that systemd was still busy with when the daemon was killed is waited for") {
  House house;
  house.start_daemon();
  house.systemd->answers = false;
  const auto id = house.submit();
  REQUIRE(house.is_called("StartTransientUnit " + unit_of(id)));
  house.kill_daemon();
  house.systemd->set_unit(unit_of(id), {.active = "activating", .sub = "start"});
  house.systemd->answers = true;
  house.start_daemon();
  settle(house.loop);
  CHECK(house.row(id).summary() == "starting");
  house.systemd->set_unit(unit_of(id), {});
  house.systemd->announce(unit_of(id));
  CHECK(house.reaches(id, "running"));
  CHECK(house.called("StartTransientUnit " + unit_of(id)) == 1);
}

TEST_CASE("a start that was written down but never reached systemd is made once") {
  House house;
  house.start_daemon();
  house.systemd->answers = false;
  const auto id = house.submit();
  const auto call = "StartTransientUnit " + unit_of(id);
  REQUIRE(house.is_called(call));
  house.kill_daemon();
  house.systemd->calls.clear();
  house.systemd->answers = true;
  house.start_daemon();
  REQUIRE(house.reaches(id, "running"));
  settle(house.loop);
  CHECK(house.called(call) == 1);
  CHECK(house.row(id).attempt == 1);
}

TEST_CASE("a stop that was written down is repeated until systemd has heard of it") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  house.systemd->answers = false;
  CHECK(house.cancel(id).empty());
  REQUIRE(house.is_called("StopUnit " + unit_of(id)));
  house.kill_daemon();
  house.systemd->answers = true;
  house.start_daemon();
  REQUIRE(house.reaches(id, "finished cancelled -1"));
  CHECK(house.called("StopUnit " + unit_of(id)) == 2);
}

TEST_CASE("a unit that a finished job left behind is cleared away") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  house.exits(unit_of(id), 0);
  REQUIRE(house.reaches(id, "finished done 0"));
  settle(house.loop);
  house.kill_daemon();
  house.systemd->set_unit(unit_of(id), exited_unit(0));
  house.start_daemon();
  CHECK(house.is_called("StopUnit " + unit_of(id)));
  CHECK(house.row(id).summary() == "finished done 0");
}

TEST_CASE("a second daemon on the same records refuses, and the first goes on") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  DaemonProcess second(house.bus.address(), house.directory.path());
  REQUIRE(house.reaches([&] { return second.exit_status().has_value(); }));
  CHECK(second.exit_status() == 1);
  CHECK_THAT(second.output(), Catch::Contains("another mljobd runs on " + house.directory.path() + "/state"));
  house.exits(unit_of(id), 0);
  CHECK(house.reaches(id, "finished done 0"));
}
