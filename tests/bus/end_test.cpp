// Ends that systemd did not tell of: signals that were lost, and a systemd that was away.
#include <catch2/catch.hpp>

#include "house.hpp"

using namespace mljobd::test;

TEST_CASE("an end whose signals were lost is found after the next reload, exit code and all") {
  House house;
  house.start_daemon();
  const auto failing = house.running_job();
  const auto succeeding = house.running_job();
  const auto running = house.running_job();
  house.systemd->set_unit(unit_of(failing), exited_unit(7));
  house.systemd->set_unit(unit_of(succeeding), exited_unit(0));
  settle(house.loop);
  CHECK(house.row(failing).summary() == "running");
  house.systemd->reloading(true);
  house.systemd->reloading(false);
  CHECK(house.reaches(failing, "finished failed 7"));
  CHECK(house.reaches(succeeding, "finished done 0"));
  settle(house.loop);
  CHECK(house.row(running).summary() == "running");
}

TEST_CASE("what systemd says while it reads its units again ends no job") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  house.systemd->reloading(true);
  house.systemd->unit_removed(unit_of(id));
  house.systemd->reloading(false);
  settle(house.loop);
  CHECK(house.row(id).summary() == "running");
  house.exits(unit_of(id), 0);
  CHECK(house.reaches(id, "finished done 0"));
}

TEST_CASE("a unit that vanishes without a word leaves its job lost, cause unknown") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  house.forget_unit(unit_of(id));
  REQUIRE(house.reaches(id, "finished lost -1"));
  CHECK(house.row(id).cause == "unknown");
}

TEST_CASE("a systemd that leaves the bus and comes back is asked for every job") {
  House house;
  house.start_daemon();
  const auto failed = house.running_job();
  const auto gone = house.running_job();
  const auto running = house.running_job();
  house.systemd->set_unit(unit_of(failed), exited_unit(7));
  house.systemd->set_unit(unit_of(gone), unknown_unit());
  house.systemd_leaves();
  settle(house.loop);
  for (const auto id : {failed, gone, running}) CHECK(house.row(id).summary() == "running");
  house.systemd_returns();
  CHECK(house.reaches(failed, "finished failed 7"));
  CHECK(house.reaches(gone, "finished lost -1"));
  settle(house.loop);
  CHECK(house.row(running).summary() == "running");
  CHECK(house.called("Subscribe") == 1);

  // Signals of the new one are heard, and it starts jobs.
  house.exits(unit_of(running), 0);
  CHECK(house.reaches(running, "finished done 0"));
  CHECK(house.reaches(house.submit(), "running"));
}

TEST_CASE("a start that systemd had in hand when it left the bus is carried out once") {
  const bool carried_out = GENERATE(true, false);
  CAPTURE(carried_out);
  House house;
  house.start_daemon();
  house.systemd->answers = false;
  const auto id = house.submit();
  const auto call = "StartTransientUnit " + unit_of(id);
  REQUIRE(house.is_called(call));
  house.systemd->set_unit(unit_of(id), carried_out ? FakeUnit{} : unknown_unit());
  house.systemd_leaves();
  house.systemd_returns();
  REQUIRE(house.reaches(id, "running"));
  settle(house.loop);
  CHECK(house.called(call) == (carried_out ? 0 : 1));
  CHECK(house.row(id).attempt == 1);
}

TEST_CASE("a start that still waits in the queue of a systemd that came back is waited for") {
  House house;
  house.start_daemon();
  const bool answered = GENERATE(true, false);
  CAPTURE(answered);
  std::string path;
  house.on_start = [&](const std::string& /*unit*/) { return path = house.new_job_path(); };
  house.systemd->answers = answered;
  const auto id = house.submit();
  const auto call = "StartTransientUnit " + unit_of(id);
  REQUIRE(house.is_called(call));
  settle(house.loop);
  house.systemd->set_unit(unit_of(id), {.active = "inactive", .sub = "dead", .unit_job = 77});
  house.systemd_leaves();
  house.systemd_returns();
  settle(house.loop);
  CHECK(house.row(id).summary() == "starting");
  CHECK(house.called(call) == 0);
  house.systemd->set_unit(unit_of(id), FakeUnit{});
  house.systemd->announce(unit_of(id));
  house.systemd->job_removed("/job/77", unit_of(id), "done");
  REQUIRE(house.reaches(id, "running"));
  house.exits(unit_of(id), 3);
  CHECK(house.reaches(id, "finished failed 3"));
}

TEST_CASE("a job that is submitted while systemd is away starts when it is back") {
  House house;
  house.start_daemon();
  house.systemd_leaves();
  const auto id = house.submit();
  settle(house.loop);
  CHECK(house.row(id).summary() == "starting");
  house.systemd_returns();
  house.systemd->set_unit(unit_of(id), unknown_unit());
  REQUIRE(house.reaches(id, "running"));
  CHECK(house.called("StartTransientUnit " + unit_of(id)) == 1);
}

TEST_CASE("a cancel while systemd is away is carried out when it is back") {
  House house;
  house.start_daemon();
  const auto id = house.running_job();
  house.systemd_leaves();
  CHECK(house.cancel(id).empty());
  settle(house.loop);
  CHECK(house.row(id).summary() == "stopping");
  house.systemd_returns();
  REQUIRE(house.reaches(id, "finished cancelled -1"));
  CHECK(house.called("StopUnit " + unit_of(id)) == 1);
}
