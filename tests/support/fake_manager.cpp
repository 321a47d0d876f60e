#include "support/fake_manager.hpp"

#include <algorithm>
#include <utility>

#include <fnmatch.h>

#include "systemd/manager_bus.hpp"
#include "systemd/unit_path.hpp"

namespace mljobd::test {
namespace {

constexpr const char* unit_interface = "org.freedesktop.systemd1.Unit";
constexpr const char* service_interface = "org.freedesktop.systemd1.Service";

bool matches(const std::string& unit, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return fnmatch(pattern.c_str(), unit.c_str(), 0) == 0; });
}

}  // namespace

FakeUnit unknown_unit() { return {.load = "not-found", .active = "inactive", .sub = "dead"}; }

FakeManager::FakeManager(systemd::EventLoop& loop, const PrivateBus& bus)
    : connection_(bus.connect()),
      source_(loop, *connection_, [] {}),
      manager_(sdbus::createObject(*connection_, "/org/freedesktop/systemd1")) {
  add_unit_job("StartTransientUnit", "ssa(sv)a(sa(sv))", on_start);
  add_unit_job("StopUnit", "ss", on_stop);
  add("SetUnitProperties", "sba(sv)", "", [this](sdbus::MethodCall& call) { set_properties(call); });
  for (const char* method : {"ResetFailedUnit", "FreezeUnit", "ThawUnit"}) add_plain(method, "s");
  add("KillUnit", "ssi", "", [this](sdbus::MethodCall& call) {
    std::string unit;
    std::string who;
    std::int32_t signal = 0;
    call >> unit >> who >> signal;
    calls.push_back("KillUnit " + unit + " " + who + " " + std::to_string(signal));
    if (!call.doesntExpectReply()) call.createReply().send();
  });
  for (const char* method : {"Subscribe", "Unsubscribe"}) {
    add(method, "", "", [this, method](const sdbus::MethodCall& call) {
      calls.emplace_back(method);
      call.createReply().send();
    });
  }
  add("ListUnitsByPatterns", "asas", "a(ssssssouso)", [this](sdbus::MethodCall& call) { list_units(call); });
  manager_->registerProperty(systemd::manager_interface, "Version", "s",
                             [](sdbus::PropertyGetReply& reply) { reply << "252.39-1~deb12u1"; });
  manager_->finishRegistration();
  connection_->requestName(systemd::manager_name);
}

void FakeManager::add(const char* method, const char* in, const char* out, Method act) {
  manager_->registerMethod(systemd::manager_interface, method, in, out,
                           [act = std::move(act)](sdbus::MethodCall call) { act(call); });
}

void FakeManager::add_unit_job(const char* method, const char* in, const Act& act) {
  add(method, in, "o", [this, method, &act](sdbus::MethodCall& call) {
    Held held{.call = call, .unit = {}, .act = act};
    held.call >> held.unit;
    calls.push_back(std::string(method) + " " + held.unit);
    answers ? answer(held) : held_.push_back(std::move(held));
  });
}

void FakeManager::add_plain(const char* method, const char* in) {
  add(method, in, "", [this, method](sdbus::MethodCall& call) {
    std::string unit;
    call >> unit;
    calls.push_back(std::string(method) + " " + unit);
    if (method != deaf_to && !call.doesntExpectReply()) call.createReply().send();
  });
}

void FakeManager::set_properties(sdbus::MethodCall& call) {
  std::string unit;
  bool runtime = false;
  std::vector<sdbus::Struct<std::string, sdbus::Variant>> values;
  call >> unit >> runtime >> values;
  calls.push_back("SetUnitProperties " + unit);
  for (const auto& value : values) properties[unit][value.get<0>()] = value.get<1>();
  if (!call.doesntExpectReply()) call.createReply().send();
}

void FakeManager::answer(Held& held) {
  try {
    const auto path = held.act(held.unit);
    auto reply = held.call.createReply();
    reply << sdbus::ObjectPath(path);
    reply.send();
  } catch (const sdbus::Error& error) {
    held.call.createErrorReply(error).send();
  }
  for (const auto& follow_up : std::exchange(follow_ups_, {})) follow_up();
}

void FakeManager::answer_held() {
  for (auto& held : std::exchange(held_, {})) answer(held);
}

void FakeManager::list_units(sdbus::MethodCall& call) const {
  using Listed = sdbus::Struct<std::string, std::string, std::string, std::string, std::string, std::string,
                               sdbus::ObjectPath, std::uint32_t, std::string, sdbus::ObjectPath>;
  std::vector<std::string> states;
  std::vector<std::string> patterns;
  call >> states >> patterns;
  std::vector<Listed> listed;
  for (const auto& [name, unit] : units_) {
    if (unit.load == "not-found" || !matches(name, patterns)) continue;
    listed.emplace_back(std::make_tuple(name, name, unit.load, unit.active, unit.sub, "",
                                        sdbus::ObjectPath(systemd::unit_path(name)), std::uint32_t{0}, "",
                                        sdbus::ObjectPath("/")));
  }
  auto reply = call.createReply();
  reply << listed;
  reply.send();
}

void FakeManager::job_removed(const std::string& path, const std::string& unit, const std::string& result) {
  auto signal = manager_->createSignal(systemd::manager_interface, "JobRemoved");
  signal << std::uint32_t{1} << sdbus::ObjectPath(path) << unit << result;
  signal.send();
}

void FakeManager::unit_removed(const std::string& unit) {
  auto signal = manager_->createSignal(systemd::manager_interface, "UnitRemoved");
  signal << unit << sdbus::ObjectPath(systemd::unit_path(unit));
  signal.send();
}

void FakeManager::reloading(bool active) {
  auto signal = manager_->createSignal(systemd::manager_interface, "Reloading");
  signal << active;
  signal.send();
}

sdbus::IObject& FakeManager::unit_object(const std::string& unit) {
  auto& object = objects_[unit];
  if (object) return *object;
  object = sdbus::createObject(*connection_, systemd::unit_path(unit));
  const auto add_text = [&](const char* interface, const char* name, std::string FakeUnit::* member) {
    object->registerProperty(interface, name, "s", [this, unit, member](sdbus::PropertyGetReply& reply) {
      reply << units_.at(unit).*member;
    });
  };
  const auto add_number = [&](const char* name, std::int32_t FakeUnit::* member) {
    object->registerProperty(service_interface, name, "i", [this, unit, member](sdbus::PropertyGetReply& reply) {
      reply << units_.at(unit).*member;
    });
  };
  add_text(unit_interface, "LoadState", &FakeUnit::load);
  add_text(unit_interface, "ActiveState", &FakeUnit::active);
  add_text(unit_interface, "SubState", &FakeUnit::sub);
  add_text(service_interface, "Result", &FakeUnit::result);
  add_number("ExecMainCode", &FakeUnit::main_code);
  add_number("ExecMainStatus", &FakeUnit::main_status);
  object->registerProperty(service_interface, "ExecMainExitTimestamp", "t",
                           [this, unit](sdbus::PropertyGetReply& reply) { reply << units_.at(unit).main_exited; });
  object->registerProperty(unit_interface, "Job", "(uo)", [this, unit](sdbus::PropertyGetReply& reply) {
    const std::uint32_t id = units_.at(unit).unit_job;
    reply << sdbus::make_struct(id, sdbus::ObjectPath(id == 0 ? "/" : "/job/" + std::to_string(id)));
  });
  object->registerProperty(service_interface, "ControlGroup", "s",
                           [](sdbus::PropertyGetReply& reply) { reply << "/x"; });
  object->finishRegistration();
  return *object;
}

void FakeManager::set_unit(const std::string& unit, const FakeUnit& state) {
  units_[unit] = state;
  unit_object(unit);
}

void FakeManager::properties_changed(const std::string& unit, const std::string& interface,
                                     const std::map<std::string, sdbus::Variant>& values) {
  // A unit that has not been set is not asked about either.
  units_.try_emplace(unit, unknown_unit());
  auto signal = unit_object(unit).createSignal(systemd::properties_interface, "PropertiesChanged");
  signal << interface << values << std::vector<std::string>{"ExecStart"};
  signal.send();
}

void FakeManager::announce(const std::string& unit) {
  const FakeUnit& state = units_.at(unit);
  properties_changed(unit, service_interface,
                     {{"Result", state.result},
                      {"ExecMainCode", state.main_code},
                      {"ExecMainStatus", state.main_status},
                      {"ExecMainExitTimestamp", state.main_exited}});
  properties_changed(unit, unit_interface,
                     {{"LoadState", state.load}, {"ActiveState", state.active}, {"SubState", state.sub}});
}

}  // namespace mljobd::test
