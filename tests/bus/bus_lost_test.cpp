// What the daemon cannot do without: then it says so and ends, and systemd starts it again.
#include <catch2/catch.hpp>

#include "house.hpp"

using namespace mljobd::test;

TEST_CASE("without systemd on the bus the daemon ends and says why") {
  House house;
  house.systemd_leaves();
  DaemonProcess daemon(house.bus.address(), house.directory.path());
  REQUIRE(house.reaches([&] { return daemon.exit_status().has_value(); }));
  CHECK(daemon.exit_status() == 1);
  CHECK_THAT(daemon.output(), Catch::Contains("systemd is not on the bus"));
}

TEST_CASE("without a bus the daemon ends and says why") {
  House house;
  DaemonProcess daemon("unix:path=" + house.directory.path() + "/nothing", house.directory.path());
  REQUIRE(house.reaches([&] { return daemon.exit_status().has_value(); }));
  CHECK(daemon.exit_status() == 1);
  CHECK_THAT(daemon.output(), Catch::Contains("bus"));
}

TEST_CASE("a bus that goes away ends the daemon with a failure") {
  House house;
  house.start_daemon();
  static_cast<void>(house.running_job());
  settle(house.loop);
  house.bus.end();
  REQUIRE(house.reaches([&] { return house.daemon->exit_status().has_value(); }));
  CHECK(house.daemon->exit_status() == 1);
  CHECK_THAT(house.daemon->output(), Catch::Contains("the message bus closed the connection"));
}
