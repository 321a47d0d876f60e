// What waits for what, and what is tried again.
#include <chrono>

#include <catch2/catch.hpp>

#include "house.hpp"

using namespace mljobd::test;

namespace {

std::uint64_t microseconds_from_now(std::chrono::seconds seconds) {
  const auto moment = std::chrono::system_clock::now() + seconds;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(moment.time_since_epoch()).count());
}

sdbus::Variant after(const std::string& kind, std::uint32_t id) { return text_pairs({{kind, std::to_string(id)}}); }

}  // namespace

TEST_CASE("a job that waits for another starts when that has ended well, and never if it has not") {
  House house;
  house.start_daemon();
  const auto first = house.running_job();
  const auto good = house.submit({{"after", after("ok", first)}});
  const auto bad = house.submit({{"after", after("notok", first)}});
  const auto third = house.submit({{"after", after("ok", bad)}});
  REQUIRE(house.reaches([&] { return house.row(good).reason.starts_with("Dependency"); }));
  const bool daemon_is_killed = GENERATE(true, false);
  if (daemon_is_killed) house.restart_daemon();
  CHECK(house.row(good).state == "queued");
  house.exits(unit_of(first), 0);
  REQUIRE(house.reaches(good, "running"));
  REQUIRE(house.reaches(bad, "finished dependency -1"));
  CHECK_THAT(house.row(bad).advice, Catch::Contains("never started: "));
  REQUIRE(house.reaches(third, "finished dependency -1"));
  CHECK(house.row(bad).cause == "dependency");
  CHECK(house.called("StartTransientUnit " + unit_of(bad)) == 0);
}

TEST_CASE("an array is as many jobs, of which only so many run at a time") {
  House house;
  house.start_daemon();
  const auto first = house.submit({{"array", std::string("3-6%2")}});
  const auto later = house.submit({{"after", after("any", first)}});
  REQUIRE(house.reaches(first, "running"));
  REQUIRE(house.reaches(first + 1, "running"));
  settle(house.loop);
  CHECK(house.row(first + 2).state == "queued");
  CHECK(house.row(first + 2).reason == "ArrayLimit (2 of its jobs run)");
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(house.row(first + i).array_index == 3 + i);
  CHECK_FALSE(house.row(later).array_index);
  for (std::uint32_t i = 0; i < 4; ++i) {
    REQUIRE(house.reaches(first + i, "running"));
    CHECK(house.row(later).state == "queued");
    house.exits(unit_of(first + i), i == 0 ? 1 : 0);
  }
  CHECK(house.reaches(later, "running"));
}

TEST_CASE("the name of an array that has begun stands for the jobs that have ended too") {
  House house;
  house.start_daemon();
  const auto first = house.submit({{"name", std::string("sweep")}, {"array", std::string("0-1")}});
  REQUIRE(house.reaches(first, "running"));
  REQUIRE(house.reaches(first + 1, "running"));
  house.exits(unit_of(first), 1);
  REQUIRE(house.reaches(first, "finished failed 1"));
  const auto after_all = house.submit({{"after", text_pairs({{"ok", "sweep"}})}});
  CHECK(house.reaches(after_all, "finished dependency -1"));
}

TEST_CASE("a pipeline is queued whole, and its stages find each other by name") {
  House house;
  house.start_daemon();
  const auto ids = house.submit_pipeline({{{"name", std::string("validate")}, {"after", text_pairs({{"ok", "train"}})}},
                                          {{"name", std::string("train")}, {"after", text_pairs({{"ok", "prepare"}})}},
                                          {{"name", std::string("prepare")}, {"array", std::string("0-1")}}});
  REQUIRE(ids.size() == 3);
  for (std::uint32_t i = 0; i < 2; ++i) {
    REQUIRE(house.reaches(ids[2] + i, "running"));
    CHECK(house.row(ids[1]).state == "queued");
    house.exits(unit_of(ids[2] + i), 0);
  }
  REQUIRE(house.reaches(ids[1], "running"));
  CHECK(house.row(ids[0]).state == "queued");
  house.exits(unit_of(ids[1]), 0);
  CHECK(house.reaches(ids[0], "running"));
}

TEST_CASE("of a pipeline with a mistake nothing is queued") {
  House house;
  house.start_daemon();
  const House::Dictionary train{{"name", std::string("train")}};
  const auto refused = [&](const std::vector<House::Dictionary>& stages, const std::string& part) {
    try {
      house.submit_pipeline(stages);
      FAIL_CHECK("it was taken: " << part);
    } catch (const sdbus::Error& error) {
      CHECK_THAT(error.getMessage(), Catch::Contains(part));
    }
  };
  refused({}, "1 to 1000 stages");
  refused({train, train}, "two stages are called 'train'");
  refused({train, {{"name", std::string("a")}, {"after", text_pairs({{"ok", "nobody"}})}}}, "stage 'a': ");
  refused({{{"name", std::string("a")}, {"after", text_pairs({{"ok", "b"}})}},
           {{"name", std::string("b")}, {"after", text_pairs({{"ok", "a"}})}}},
          "in a circle: ");
  refused({train, {{"memory", std::string("4G")}}}, "stage 2: memory must be");
  const auto next = house.submit();
  CHECK(next == 1);
}

TEST_CASE("a trial tells what would start when, and queues nothing") {
  House house;
  house.start_daemon();
  const auto blocking = house.running_job();
  const std::uint64_t hour = std::uint64_t{3600} * 1'000'000;
  const auto plan = house.preview({{{"name", std::string("train")}, {"time_limit", hour}},
                                   {{"name", std::string("validate")}, {"after", text_pairs({{"ok", "train"}})}},
                                   {{"name", std::string("report")}, {"after", after("ok", blocking)}},
                                   {{"name", std::string("sweep")}, {"array", std::string("0-2%1")}}});
  REQUIRE(plan.size() == 6);
  const auto entry = [&](const std::string& name) {
    for (const auto& row : plan) {
      if (row.at("name").get<std::string>() == name) return row;
    }
    FAIL("no " << name);
    return House::Dictionary{};
  };
  CHECK(entry("train").at("reason").get<std::string>().empty());
  CHECK(entry("train").at("start").get<std::uint64_t>() > 0);
  CHECK(entry("validate").at("start").get<std::uint64_t>() >= entry("train").at("start").get<std::uint64_t>() + hour);
  CHECK_THAT(entry("validate").at("reason").get<std::string>(), Catch::StartsWith("Dependency"));
  CHECK(entry("report").at("start").get<std::uint64_t>() == 0);
  CHECK(house.submit() == blocking + 1);
}

TEST_CASE("a submission that is repeated with its key is the same job, also when it has ended") {
  House house;
  house.start_daemon();
  const House::Dictionary keyed{{"key", std::string("nightly")}};
  const auto id = house.running_job(keyed);
  CHECK(house.submit(keyed) == id);
  house.exits(unit_of(id), 0);
  REQUIRE(house.reaches(id, "finished done 0"));
  house.restart_daemon();
  CHECK(house.submit(keyed) == id);
  CHECK(house.submit({{"key", std::string("other")}}) == id + 1);
  CHECK(house.called("StartTransientUnit " + unit_of(id)) == 1);
}

TEST_CASE("of a singleton one runs at a time") {
  House house;
  house.start_daemon();
  const House::Dictionary single{{"name", std::string("nightly")}, {"singleton", true}};
  const auto first = house.running_job(single);
  const auto second = house.submit(single);
  const auto other = house.running_job({{"name", std::string("other")}, {"singleton", true}});
  CHECK(other > second);
  CHECK(house.row(second).state == "queued");
  house.exits(unit_of(first), 1);
  CHECK(house.reaches(second, "running"));
}

TEST_CASE("a job does not begin before its time") {
  House house;
  house.start_daemon();
  const auto id = house.submit({{"begin", microseconds_from_now(std::chrono::seconds(2))}});
  const auto late = house.submit({{"begin", microseconds_from_now(std::chrono::hours(24 * 400))}});
  REQUIRE(house.reaches([&] { return house.row(id).reason.starts_with("BeginTime"); }));
  CHECK(house.reaches(id, "running"));
  CHECK(house.row(late).state == "queued");
}

TEST_CASE("an attempt that failed is followed by another as often as was asked for, after a pause") {
  House house;
  house.start_daemon();
  const auto id = house.running_job({{"max_retries", std::uint32_t{1}}});
  house.exits(unit_of(id), 3);
  REQUIRE(house.reaches([&] { return house.row(id).reason.starts_with("BeginTime"); }));
  house.restart_daemon();
  CHECK(house.row(id).state == "queued");
  REQUIRE(house.reaches(id, "running"));
  CHECK(house.row(id).attempt == 2);
  house.exits(house.row(id).unit, 3);
  CHECK(house.reaches(id, "finished failed 3"));
}

TEST_CASE("a cancelled job is not tried again") {
  House house;
  house.start_daemon();
  const auto id = house.running_job({{"max_retries", std::uint32_t{5}}});
  CHECK(house.cancel(id).empty());
  CHECK(house.reaches(id, "finished cancelled -1"));
}
