// Pressure that a case makes by what the files of the cgroups say: what systemd is told, and what is recorded of it.
#include <string>

#include <catch2/catch.hpp>

#include "cgroup_stage.hpp"
#include "house.hpp"

using namespace mljobd::test;

namespace {

std::vector<House::Dictionary> events_of(House& house, std::uint32_t job) {
  const auto connection = house.bus.connect();
  const auto manager = sdbus::createProxy(*connection, "org.mljobd1", "/org/mljobd1");
  std::vector<House::Dictionary> events;
  manager->callMethod("ListEvents")
      .onInterface("org.mljobd1.Manager")
      .withArguments(House::Dictionary{{"job", job}})
      .storeResultsTo(events);
  return events;
}

// Of the first with this reason; empty while there is none.
House::Dictionary event_of(House& house, std::uint32_t job, const std::string& reason) {
  for (const auto& event : events_of(house, job)) {
    if (event.at("reason").get<std::string>() == reason) return event;
  }
  return {};
}

std::string text(const House::Dictionary& event, const char* key) { return event.at(key).get<std::string>(); }

// The number after this key of a JSON text.
std::string number_after(const std::string& json, const std::string& key) {
  const auto at = json.find("\"" + key + "\":");
  if (at == std::string::npos) return "missing";
  const auto begin = at + key.size() + 3;
  return json.substr(begin, json.find_first_of(",}", begin) - begin);
}

}  // namespace

TEST_CASE("a throttle is told to systemd and recorded, and what it freed after it") {
  House house;
  house.configure(R"({"pressure": {"time_scale_percent": 20}})");
  const std::string root = house.directory.path() + "/cgroup";
  const auto use = [&](std::uint64_t mebibytes) {
    stage_memory(root, "mljob.slice", {.anon = mebibytes * mebibyte, .max = 1000 * mebibyte});
  };
  use(500);
  stage_memory(root, cgroup_of(1), {.anon = 200 * mebibyte});
  stage_memory(root, cgroup_of(2), {.anon = 300 * mebibyte});
  house.start_daemon();
  (void)house.running_job();
  const auto second = house.running_job();
  use(930);
  INFO(house.daemon->output());
  REQUIRE(house.reaches([&] { return !event_of(house, second, "throttle").empty(); }));
  use(800);
  REQUIRE(house.reaches([&] { return house.systemd->properties["mljob-train-2.slice"].contains("MemoryHigh"); }));
  CHECK(house.systemd->properties["mljob-train-2.slice"]["MemoryHigh"].get<std::uint64_t>() > 300 * mebibyte);

  REQUIRE(house.reaches([&] { return !event_of(house, second, "freed").empty(); }));
  const auto throttle = event_of(house, second, "throttle");
  const auto freed = event_of(house, second, "freed");
  const auto details = text(freed, "details");
  CAPTURE(details);
  CHECK(number_after(details, "decision") == number_after(text(throttle, "details"), "id"));
  CHECK(number_after(details, "of") == "\"throttle\"");
  CHECK(number_after(details, "freed_after_15s") == std::to_string(130 * mebibyte));
  CHECK_THAT(text(freed, "message"), Catch::StartsWith("the throttle of 2 '") && Catch::Contains("130M after 15s: "));
  CHECK(text(freed, "kind") == "decision");
}
