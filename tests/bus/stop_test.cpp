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

TEST_CASE("a slice that systemd refuses to stop is tried again, and its job can then run once more") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  int refusals = 2;
  house.on_stop_slice = [&](const std::string& unit) {
    if (refusals-- > 0) {
      throw sdbus::Error("org.freedesktop.systemd1.TransactionIsDestructive", "Transaction is destructive.");
    }
    return house.stop_unit(unit);
  };
  house.exits(unit_of(id), 3);
  REQUIRE(house.reaches(id, "finished failed 3"));
  CHECK(house.requeue(id).empty());
  REQUIRE(house.reaches(id, "running"));
  CHECK(house.row(id).attempt == 2);
  CHECK(refusals < 0);
}

TEST_CASE("a failed unit is not left behind by a systemd that had not heard of it when it left the bus") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  house.systemd->deaf_to = "ResetFailedUnit";
  house.exits(unit_of(id), 3);
  REQUIRE(house.is_called("ResetFailedUnit " + unit_of(id)));
  house.systemd_leaves();
  house.systemd_returns();
  CHECK(house.is_called("ResetFailedUnit " + unit_of(id)));
  CHECK(house.reaches(id, "finished failed 3"));
}

TEST_CASE("a job that had ended by itself is not called cancelled") {
  const bool in_time = GENERATE(true, false);
  CAPTURE(in_time);
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  house.on_stop = [&](const std::string& unit) {
    constexpr std::uint64_t long_ago = 1;
    auto state = exited_unit(0);
    state.main_exited = in_time ? long_ago : std::uint64_t{1} << 62;
    house.systemd->set_unit(unit, state);
    house.systemd->announce(unit);
    return house.new_job_path();
  };
  CHECK(house.cancel(id).empty());
  CHECK(house.reaches(id, in_time ? "finished done 0" : "finished cancelled 0"));
}
