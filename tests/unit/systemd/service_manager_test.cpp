#include "systemd/service_manager.hpp"

#include <algorithm>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "support/fake_manager.hpp"

using namespace mljobd;
using namespace mljobd::systemd;
using test::run_until;
using test::settle;

namespace {

constexpr const char* unit = "mljob-42-1.service";
constexpr const char* unit_interface = "org.freedesktop.systemd1.Unit";
constexpr const char* service_interface = "org.freedesktop.systemd1.Service";

struct Fixture {
  test::PrivateBus bus;
  EventLoop loop;
  std::unique_ptr<test::FakeManager> fake = std::make_unique<test::FakeManager>(loop, bus);
  int disconnections = 0;
  std::unique_ptr<sdbus::IConnection> connection = bus.connect();
  BusEventSource source{loop, *connection, [this] { ++disconnections; }};
  std::vector<UnitStatus> changes;
  std::vector<std::string> removals;
  std::vector<std::string> failures;
  std::vector<bool> availability;
  int reloads = 0;
  std::function<void()> in_changed = [] {};
  ServiceManager manager{*connection, ManagerScope::user,
                         UnitEvents{.changed =
                                        [this](const UnitStatus& status) {
                                          changes.push_back(status);
                                          in_changed();
                                        },
                                    .removed = [this](const std::string& name) { removals.push_back(name); },
                                    .reloaded = [this] { ++reloads; },
                                    .availability = [this](bool available) { availability.push_back(available); },
                                    .failed = [this](std::string_view what) { failures.emplace_back(what); }}};
  std::vector<std::string> answers;
  ServiceManager::JobDone remember = [this](const core::Expected<std::string>& result) {
    answers.push_back(result ? *result : "error: " + result.error().message);
  };

  void start() { manager.start({.name = unit, .properties = {{"RemainAfterExit", true}}}, remember); }
  void watch() {
    manager.watch_units();
    settle(loop);
  }
  void service_signal(const std::string& result, std::int32_t code, std::int32_t status) const {
    fake->properties_changed(unit, service_interface,
                             {{"Result", result}, {"ExecMainCode", code}, {"ExecMainStatus", status}});
  }
  void unit_signal(const std::string& active, const std::string& sub) const {
    fake->properties_changed(unit, unit_interface,
                             {{"ActiveState", active},
                              {"SubState", sub},
                              {"StateChangeTimestamp", std::uint64_t{1}},
                              {"InvocationID", std::vector<std::uint8_t>{0xab, 0x01}},
                              {"ActivationDetails", std::map<std::string, std::string>{}}});
  }
};

}  // namespace

TEST_CASE("a start is answered by the end of systemd's job, not by the reply") {
  Fixture f;
  f.start();
  settle(f.loop);
  CHECK(f.fake->calls == std::vector<std::string>{"StartTransientUnit mljob-42-1.service"});
  CHECK(f.answers.empty());
  f.fake->job_removed("/job/2", "other.service", "done");
  f.fake->job_removed("/job/1", unit, "failed");
  REQUIRE(run_until(f.loop, [&] { return !f.answers.empty(); }));
  CHECK(f.answers == std::vector<std::string>{"failed"});
  CHECK(f.manager.version() == "252");
}

TEST_CASE("the end of a job that overtakes the reply is not waited for in vain") {
  Fixture f;
  f.fake->on_start = [&](const std::string& name) {
    f.fake->job_removed("/job/1", name, "done");
    return "/job/1";
  };
  f.start();
  REQUIRE(run_until(f.loop, [&] { return !f.answers.empty(); }));
  CHECK(f.answers == std::vector<std::string>{"done"});
}

TEST_CASE("a refusal comes with the manager's own sentence; a unit that is gone counts as stopped") {
  Fixture f;
  f.fake->on_start = [](const std::string&) -> std::string {
    throw sdbus::Error("org.freedesktop.DBus.Error.PropertyReadOnly", "Cannot set property X.");
  };
  f.fake->on_stop = [](const std::string&) -> std::string {
    throw sdbus::Error("org.freedesktop.systemd1.NoSuchUnit", "Unit not loaded.");
  };
  f.start();
  f.manager.stop(unit, f.remember);
  REQUIRE(run_until(f.loop, [&] { return f.answers.size() == 2; }));
  CHECK(f.answers == std::vector<std::string>{"error: Cannot set property X.", "done"});
}

TEST_CASE("two signals make one picture, told once") {
  Fixture f;
  f.watch();
  f.service_signal("exit-code", 1, 3);
  settle(f.loop);
  CHECK(f.changes.empty());
  f.unit_signal("failed", "failed");
  f.service_signal("exit-code", 1, 3);
  f.unit_signal("failed", "failed");
  settle(f.loop);
  REQUIRE(f.changes.size() == 1);
  const UnitStatus expected{.unit = unit,
                            .loaded = true,
                            .active = ActiveState::failed,
                            .sub_state = "failed",
                            .result = "exit-code",
                            .main_code = 1,
                            .main_status = 3,
                            .invocation_id = "ab01"};
  CHECK(f.changes.front() == expected);
}

TEST_CASE("half a picture is completed by asking") {
  Fixture f;
  f.fake->set_unit(unit, {});
  f.watch();
  f.unit_signal("active", "running");
  REQUIRE(run_until(f.loop, [&] { return !f.changes.empty(); }));
  CHECK(f.changes.front().active == ActiveState::active);
  CHECK(f.changes.front().control_group == "/x");
}

TEST_CASE("another user's signal that looks like systemd's is not believed") {
  Fixture f;
  f.watch();
  f.start();
  settle(f.loop);
  const auto forger = f.bus.connect();
  const BusEventSource forger_source(f.loop, *forger, [] {});
  const auto object = sdbus::createObject(*forger, "/org/freedesktop/systemd1");
  const auto send = [&](sdbus::Signal signal) {
    signal.setDestination(f.connection->getUniqueName());
    signal.send();
  };
  auto ended = object->createSignal("org.freedesktop.systemd1.Manager", "JobRemoved");
  ended << std::uint32_t{1} << sdbus::ObjectPath("/job/1") << unit << "done";
  send(std::move(ended));
  auto removed = object->createSignal("org.freedesktop.systemd1.Manager", "UnitRemoved");
  removed << unit << sdbus::ObjectPath("/x");
  send(std::move(removed));
  auto owner = object->createSignal("org.freedesktop.DBus", "NameOwnerChanged");
  owner << "org.freedesktop.systemd1" << "" << forger->getUniqueName();
  send(std::move(owner));
  settle(f.loop);
  CHECK(f.answers.empty());
  CHECK(f.removals.empty());
  CHECK(f.availability.empty());
  f.fake->job_removed("/job/1", unit, "done");
  CHECK(run_until(f.loop, [&] { return f.answers.size() == 1; }));
}

TEST_CASE("a reload removes no job, whatever PID 1 says meanwhile") {
  Fixture f;
  f.watch();
  f.fake->reloading(true);
  f.fake->unit_removed(unit);
  f.fake->reloading(false);
  f.fake->unit_removed("ssh.service");
  settle(f.loop);
  CHECK(f.removals.empty());
  CHECK(f.reloads == 1);
  f.fake->unit_removed(unit);
  CHECK(run_until(f.loop, [&] { return f.removals == std::vector<std::string>{unit}; }));
}

TEST_CASE("a job whose end was not told during a reload is asked for") {
  Fixture f;
  f.fake->set_unit(unit, {.active = "failed", .result = "exit-code"});
  f.start();
  settle(f.loop);
  f.fake->reloading(false);
  REQUIRE(run_until(f.loop, [&] { return !f.answers.empty(); }));
  CHECK(f.answers == std::vector<std::string>{"failed"});
}

TEST_CASE("a start whose reply was lost is looked up when the manager is back, and sent again if it never arrived") {
  const bool arrived = GENERATE(true, false);
  Fixture f;
  f.fake->answers = false;
  f.start();
  REQUIRE(run_until(f.loop, [&] { return !f.fake->calls.empty(); }));
  f.fake.reset();
  f.fake = std::make_unique<test::FakeManager>(f.loop, f.bus);
  f.fake->set_unit(unit, {.active = arrived ? "active" : "inactive"});
  f.fake->on_start = [&](const std::string& name) {
    f.fake->job_removed("/job/1", name, "done");
    return "/job/1";
  };
  REQUIRE(run_until(f.loop, [&] { return !f.answers.empty(); }));
  CHECK(f.answers == std::vector<std::string>{"done"});
  const auto sent = std::count(f.fake->calls.begin(), f.fake->calls.end(), "StartTransientUnit mljob-42-1.service");
  CHECK(sent == (arrived ? 0 : 1));
  CHECK(f.availability.back());
}

TEST_CASE("an idle daemon is not woken by other units") {
  Fixture f;
  f.watch();
  f.service_signal("success", 0, 0);
  f.unit_signal("active", "running");
  settle(f.loop);
  CHECK(f.changes.size() == 1);
  f.manager.unwatch_units();
  settle(f.loop);
  CHECK(f.fake->calls == std::vector<std::string>{"Subscribe", "Unsubscribe"});
  f.service_signal("success", 1, 0);
  f.unit_signal("active", "exited");
  settle(f.loop);
  CHECK(f.changes.size() == 1);
  f.watch();
  f.service_signal("success", 1, 0);
  f.unit_signal("active", "exited");
  CHECK(run_until(f.loop, [&] { return f.changes.size() == 2; }));
}

TEST_CASE("an exception in a handler is told, and does not unwind through libsystemd") {
  Fixture f;
  f.watch();
  f.in_changed = [] { throw std::runtime_error("half done"); };
  f.service_signal("success", 0, 0);
  f.unit_signal("active", "running");
  REQUIRE(run_until(f.loop, [&] { return !f.failures.empty(); }));
  CHECK(f.failures == std::vector<std::string>{"half done"});
}

TEST_CASE("a bus that goes away answers every call and is told once") {
  Fixture f;
  f.fake->answers = false;
  f.start();
  settle(f.loop);
  f.bus.end();
  REQUIRE(run_until(f.loop, [&] { return f.disconnections > 0; }));
  settle(f.loop);
  CHECK(f.disconnections == 1);
  REQUIRE(f.answers.size() == 1);
  CHECK(f.answers.front().starts_with("error: "));
  f.start();
  CHECK(f.answers.size() == 2);
}

TEST_CASE("what would break the unit's file is refused before it is sent") {
  Fixture f;
  f.manager.start({.name = unit, .properties = {{"WorkingDirectory", std::string("/a\nUser=root")}}}, f.remember);
  REQUIRE(f.answers.size() == 1);
  CHECK(f.answers.front().starts_with("error: "));
  settle(f.loop);
  CHECK(f.fake->calls.empty());
}
