// Lists as they cross the bus: what the daemon writes, and what the client makes of it.
#include <cstdlib>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "client/manager_client.hpp"
#include "house.hpp"

using namespace mljobd::test;
namespace core = mljobd::core;

namespace {

std::unique_ptr<mljobd::client::ManagerClient> client_of(const PrivateBus& bus) {
  setenv("MLJOBD_BUS_ADDRESS", bus.address().c_str(), 1);
  auto client = mljobd::client::ManagerClient::connect(mljobd::client::Bus::session);
  unsetenv("MLJOBD_BUS_ADDRESS");
  REQUIRE(client);
  return *std::move(client);
}

std::set<std::string> keys_of(const House::Dictionary& row) {
  std::set<std::string> keys;
  for (const auto& [key, value] : row) keys.insert(key);
  return keys;
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const sdbus::Error& error) {
    return error.getName() + ": " + error.getMessage();
  }
  return "accepted";
}

// Answers whatever list it is asked for with the same rows.
struct FakeDaemon {
  FakeDaemon(const PrivateBus& bus, const std::vector<House::Dictionary>& rows)
      : connection(bus.connect()), object(sdbus::createObject(*connection, "/org/mljobd1")) {
    object->registerMethod("ListJobs")
        .onInterface("org.mljobd1.Manager")
        .implementedAs([rows](const House::Dictionary&) { return rows; });
    object->finishRegistration();
    connection->requestName("org.mljobd1");
    connection->enterEventLoopAsync();
  }
  ~FakeDaemon() { connection->leaveEventLoop(); }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  std::unique_ptr<sdbus::IConnection> connection;
  std::unique_ptr<sdbus::IObject> object;
};

}  // namespace

TEST_CASE("a list has the keys that were asked for, of every job") {
  House house;
  house.start_daemon();
  const auto running = house.running_job();
  const auto array =
      house.submit({{"after", text_pairs({{"ok", std::to_string(running)}})}, {"array", std::string("0-1")}});
  const auto rows = house.list({{"fields", std::vector<std::string>{"id", "state", "array_index"}}});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].at("id").get<std::uint32_t>() == array + 1);
  CHECK(keys_of(rows[0]) == std::set<std::string>{"id", "state", "array_index"});
  CHECK(rows[2].at("state").get<std::string>() == "running");
  CHECK(keys_of(rows[2]) == std::set<std::string>{"id", "state"});
  CHECK(keys_of(house.list({}).at(2)).contains("usage"));
  CHECK_THAT(refusal_of([&] { (void)house.list({{"fields", std::vector<std::string>{"memory"}}}); }),
             Catch::StartsWith("org.mljobd1.Error.InvalidSpec: ") && Catch::Contains("no 'memory'; there are id name"));
}

TEST_CASE("the client reads the rows as the daemon has them") {
  House house;
  house.start_daemon();
  const auto id = house.submit({{"hold", true}, {"memory", std::uint64_t{1} << 30}, {"name", std::string("night")}});
  const auto client = client_of(house.bus);
  const auto rows = client->list_jobs({{"ids", std::vector{id}}});
  REQUIRE(rows);
  REQUIRE(rows->size() == 1);
  const auto& row = rows->front();
  CHECK(row.at("id") == core::Value(id));
  CHECK(row.at("name") == core::Value("night"));
  CHECK(row.at("exit_code") == core::Value(std::int32_t{-1}));
  CHECK(row.at("cause") == core::Value(core::ValueMap{}));
  CHECK(row.at("warnings") == core::Value(std::vector<std::string>{}));
  const auto* limits = std::get_if<core::ValueMap>(&row.at("limits").storage);
  REQUIRE(limits != nullptr);
  CHECK(limits->at("memory") == core::Value(core::Bytes{1} << 30));
  CHECK(limits->at("oom_policy") == core::Value("kill"));
  CHECK(client->list_jobs({{"ids", std::vector{id + 1}}})->empty());
}

TEST_CASE("a class says how many of its jobs wait and how many run") {
  House house;
  house.start_daemon();
  const auto first = house.running_job();
  const auto second = house.running_job();
  (void)house.submit({{"hold", true}});
  (void)house.submit({{"after", text_pairs({{"ok", std::to_string(first)}})}});
  (void)house.submit({{"after", text_pairs({{"ok", std::to_string(first)}})}});
  house.exits(unit_of(second), 0);
  REQUIRE(house.reaches(second, "finished done 0"));
  const auto classes = client_of(house.bus)->list_classes();
  REQUIRE(classes);
  for (const auto& row : *classes) {
    const bool is_train = row.at("name") == core::Value("train");
    CHECK(row.at("queued") == core::Value(std::uint32_t{is_train ? 3U : 0U}));
    CHECK(row.at("running") == core::Value(std::uint32_t{is_train ? 1U : 0U}));
  }
}

TEST_CASE("the client leaves out what a newer daemon says in types of its own") {
  const PrivateBus bus;
  const std::vector<sdbus::Struct<std::string, bool>> unknown{{"a", true}};
  const sdbus::Struct<std::uint32_t, std::string> victim{7U, "python3"};
  const FakeDaemon daemon(bus, {{{"before", std::uint8_t{3}}, {"later", unknown}, {"victim", victim}},
                                {},
                                {{"labels", std::map<std::string, std::string>{{"k", "v"}}}, {"share", 0.5}}});
  const auto rows = client_of(bus)->list_jobs({});
  REQUIRE(rows);
  CHECK(*rows == mljobd::client::Rows{{{"victim", core::NumberAndName(7, "python3")}},
                                      {},
                                      {{"labels", core::StringMap{{"k", "v"}}}, {"share", 0.5}}});
}
