// What jobs used while they ran: gathered while they do, there after the end of the job and of the daemon.
#include <algorithm>

#include <catch2/catch.hpp>

#include "cgroup_stage.hpp"
#include "house.hpp"

using namespace mljobd::test;

namespace {

using Column = std::vector<std::uint64_t>;
using Columns = std::map<std::string, Column>;

Columns samples_of(House& house, std::uint32_t id) {
  const auto connection = house.bus.connect();
  const auto manager = sdbus::createProxy(*connection, "org.mljobd1", "/org/mljobd1");
  sdbus::ObjectPath path;
  manager->callMethod("GetJob").onInterface("org.mljobd1.Manager").withArguments(id).storeResultsTo(path);
  const auto job = sdbus::createProxy(*connection, "org.mljobd1", path);
  Columns columns;
  job->callMethod("GetSamples")
      .onInterface("org.mljobd1.Job")
      .withArguments(House::Dictionary{})
      .storeResultsTo(columns);
  return columns;
}

bool has_samples(House& house, std::uint32_t id, std::size_t count) {
  return house.reaches([&] { return samples_of(house, id).at("time").size() >= count; });
}

}  // namespace

TEST_CASE("a job that runs is sampled, and its samples outlive it and the daemon") {
  House house;
  // A sample in half a second, a batch of them in three.
  house.configure(R"({"pressure": {"time_scale_percent": 5}})");
  const std::string root = house.directory.path() + "/cgroup";
  stage_memory(
      root, cgroup_of(1),
      {.anon = 100 * mebibyte, .shmem = 20 * mebibyte, .swap = 7, .cpu_microseconds = 9, .waiting_microseconds = 5});
  house.start_daemon();
  const auto id = house.running_job();
  REQUIRE(id == 1);
  REQUIRE(has_samples(house, id, 2));
  stage_memory(root, cgroup_of(1), {.anon = 200 * mebibyte, .waiting_microseconds = 6});
  REQUIRE(house.reaches([&] { return samples_of(house, id).at("memory_anon_shmem").back() == 200 * mebibyte; }));

  const auto columns = samples_of(house, id);
  for (const auto& [name, column] : columns) {
    CAPTURE(name);
    CHECK(column.size() == columns.at("time").size());
  }
  CHECK(std::is_sorted(columns.at("time").begin(), columns.at("time").end()));
  CHECK(columns.at("attempt").front() == 1);
  CHECK(columns.at("memory_anon_shmem").front() == 120 * mebibyte);
  CHECK(columns.at("memory_current").front() == 120 * mebibyte);
  CHECK(columns.at("swap_current").front() == 7);
  CHECK(columns.at("cpu_time").front() == 9);
  CHECK(columns.at("memory_waiting").front() == 5);
  CHECK(columns.at("memory_stalled").back() == 6);
  CHECK_FALSE(columns.contains("io_waiting"));

  // The last ones go with the record of its end, so that not even a daemon that is killed right after loses them.
  const auto known = columns.at("time").size();
  house.exits(unit_of(id), 0);
  REQUIRE(house.reaches(id, "finished done 0"));
  settle(house.loop);  // a list may be answered before what it shows is on disk
  house.restart_daemon();
  REQUIRE(house.reaches(id, "finished done 0"));
  CHECK(samples_of(house, id).at("time").size() >= known);
  CHECK(samples_of(house, id).at("time").front() == columns.at("time").front());
}

TEST_CASE("samples are written in batches, and a daemon that is killed loses the last of them only") {
  House house;
  house.configure(R"({"pressure": {"time_scale_percent": 5}})");
  stage_memory(house.directory.path() + "/cgroup", cgroup_of(1), {.anon = 100 * mebibyte});
  house.start_daemon();
  const auto id = house.running_job();
  // One batch with the first, the next with six more.
  REQUIRE(has_samples(house, id, 9));
  house.restart_daemon();
  REQUIRE(house.reaches(id, "running"));
  const auto kept = samples_of(house, id).at("time").size();
  CHECK(kept >= 7);
  REQUIRE(has_samples(house, id, kept + 1));
}

TEST_CASE("a job that never ran has no samples, and there are none of a job that there is not") {
  House house;
  house.start_daemon();
  const auto id = house.submit({{"hold", true}});
  CHECK(samples_of(house, id).at("time").empty());
  CHECK_THROWS_AS(samples_of(house, id + 1), sdbus::Error);
}
