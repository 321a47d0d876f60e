// Stops that systemd refuses.
#include <catch2/catch.hpp>

#include "house.hpp"

using namespace mljobd::test;

TEST_CASE("a stop that systemd refuses once is tried again") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  int refusals = 1;
  house.on_stop = [&](const std::string& unit) {
    if (refusals-- > 0) {
      throw sdbus::Error("org.freedesktop.systemd1.TransactionIsDestructive", "Transaction is destructive.");
    }
    return house.stop_unit(unit);
  };
  CHECK(house.cancel(id).empty());
  REQUIRE(house.reaches(id, "finished cancelled -1"));
  CHECK(house.row(id).cause == "user");
}
