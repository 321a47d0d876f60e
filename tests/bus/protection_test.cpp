// MemoryLow of the most important job, as systemd is told of it.
#include <catch2/catch.hpp>

#include "cgroup_stage.hpp"
#include "house.hpp"

using namespace mljobd::test;

namespace {

constexpr const char* ten_times_faster = R"({"pressure": {"time_scale_percent": 10}})";

std::string slice_of(std::uint32_t job) { return "mljob-train-" + std::to_string(job) + ".slice"; }

// Empty: systemd was never told.
std::optional<std::uint64_t> low_of(const House& house, const std::string& slice) {
  const auto unit = house.systemd->properties.find(slice);
  if (unit == house.systemd->properties.end() || !unit->second.contains("MemoryLow")) return std::nullopt;
  return unit->second.at("MemoryLow").get<std::uint64_t>();
}

bool reaches_low(House& house, const std::string& slice, std::uint64_t low) {
  const bool reached = house.reaches([&] { return low_of(house, slice) == low; });
  if (!reached) UNSCOPED_INFO(slice << " has " << low_of(house, slice).value_or(0) << "; " << house.daemon->output());
  return reached;
}

}  // namespace

TEST_CASE("the most important job is protected up to the top, and the next one after it") {
  House house;
  house.configure(ten_times_faster);
  const std::string root = house.directory.path() + "/cgroup";
  stage_memory(root, cgroup_of(1), {.anon = 200 * mebibyte, .shmem = 10 * mebibyte});
  stage_memory(root, cgroup_of(2), {.anon = 100 * mebibyte});
  house.start_daemon();
  const auto first = house.running_job();
  const auto second = house.running_job();
  CHECK(reaches_low(house, slice_of(first), 210 * mebibyte));
  CHECK(reaches_low(house, "mljob-train.slice", 210 * mebibyte));
  CHECK(reaches_low(house, "mljob.slice", 210 * mebibyte));
  CHECK_FALSE(low_of(house, slice_of(second)));

  // A little more is no reason to tell systemd, a lot is.
  const auto told = house.called("SetUnitProperties " + slice_of(first));
  stage_memory(root, cgroup_of(1), {.anon = 220 * mebibyte});
  stage_memory(root, cgroup_of(1), {.anon = 400 * mebibyte});
  CHECK(reaches_low(house, slice_of(first), 400 * mebibyte));
  CHECK(house.called("SetUnitProperties " + slice_of(first)) == told + 1);

  house.exits(unit_of(first), 0);
  REQUIRE(house.reaches(first, "finished done 0"));
  CHECK(reaches_low(house, slice_of(second), 100 * mebibyte));
  CHECK(reaches_low(house, "mljob-train.slice", 100 * mebibyte));
  CHECK(reaches_low(house, "mljob.slice", 100 * mebibyte));

  house.exits(unit_of(second), 0);
  CHECK(reaches_low(house, "mljob.slice", 0));
  CHECK(reaches_low(house, "mljob-train.slice", 0));
}

TEST_CASE("a job that an earlier daemon protected is not any more when another one is more important") {
  House house;
  house.configure(ten_times_faster);
  const std::string root = house.directory.path() + "/cgroup";
  for (const std::uint32_t id : {1U, 2U}) stage_memory(root, cgroup_of(id), {.anon = 200 * mebibyte});
  house.start_daemon();
  const auto first = house.running_job();
  const auto second = house.running_job();
  REQUIRE(reaches_low(house, slice_of(first), 200 * mebibyte));
  house.kill_daemon();
  stage_memory(root, cgroup_of(1), {.anon = 200 * mebibyte, .low = 0});
  stage_memory(root, cgroup_of(2), {.anon = 200 * mebibyte, .low = 100 * mebibyte});
  stage_memory(root, "mljob.slice", {.anon = 400 * mebibyte, .low = 100 * mebibyte});
  house.systemd->properties.clear();
  house.start_daemon();
  CHECK(reaches_low(house, slice_of(second), 0));
  CHECK(reaches_low(house, slice_of(first), 200 * mebibyte));
  CHECK(reaches_low(house, "mljob-train.slice", 200 * mebibyte));
  CHECK(reaches_low(house, "mljob.slice", 200 * mebibyte));
}

TEST_CASE("what an earlier daemon protected is given up where nothing is to be done") {
  House house;
  const std::string root = house.directory.path() + "/cgroup";
  house.configure(R"({"pressure": {"time_scale_percent": 10, "mode": "dry-run"}})");
  stage_memory(root, "mljob.slice", {.low = 200 * mebibyte});
  stage_memory(root, cgroup_of(1), {.anon = 200 * mebibyte, .low = 200 * mebibyte});
  house.start_daemon();
  (void)house.running_job();
  house.kill_daemon();
  house.systemd->properties.clear();
  house.start_daemon();
  CHECK(reaches_low(house, "mljob.slice", 0));
  CHECK(reaches_low(house, slice_of(1), 0));
  settle(house.loop);
  CHECK_FALSE(low_of(house, "mljob-train.slice"));
}

TEST_CASE("what an administrator gave the slices above stays theirs") {
  House house;
  house.configure(ten_times_faster);
  const std::string root = house.directory.path() + "/cgroup";
  stage_memory(root, "mljob.slice", {.low = 500 * mebibyte});
  stage_memory(root, "mljob.slice/mljob-train.slice", {.low = 100 * mebibyte});
  stage_memory(root, cgroup_of(1), {.anon = 200 * mebibyte});
  house.start_daemon();
  const auto job = house.running_job();
  CHECK(reaches_low(house, slice_of(job), 200 * mebibyte));
  CHECK(reaches_low(house, "mljob-train.slice", 200 * mebibyte));
  CHECK(reaches_low(house, "mljob.slice", 500 * mebibyte));
  house.exits(unit_of(job), 0);
  CHECK(reaches_low(house, "mljob-train.slice", 100 * mebibyte));
  CHECK(low_of(house, "mljob.slice") == 500 * mebibyte);
}
