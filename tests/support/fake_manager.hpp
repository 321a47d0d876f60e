// Something on a private bus that answers to systemd's name: for what a real PID 1 will not do on demand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "support/private_bus.hpp"
#include "systemd/bus_event_source.hpp"
#include "systemd/event_loop.hpp"

namespace mljobd::test {

// What the manager says of a unit when it is asked; by default that it runs.
struct FakeUnit {
  std::string load = "loaded";
  std::string active = "active";
  std::string sub = "running";
  std::string result = "success";
  std::int32_t main_code = 0;
  std::int32_t main_status = 0;
  std::uint64_t main_exited = 0;
  std::uint32_t unit_job = 0;
};

// PID 1 answers questions about any name; of one that it does not know it says this.
[[nodiscard]] FakeUnit unknown_unit();

class FakeManager {
 public:
  using Act = std::function<std::string(const std::string& unit)>;

  FakeManager(systemd::EventLoop& loop, const PrivateBus& bus);

  // What StartTransientUnit and StopUnit do: return the path of the job, or throw an error.
  Act on_start = [](const std::string&) { return "/job/1"; };
  Act on_stop = on_start;
  // The methods that were called, with the unit that they name; KillUnit with who in it and the signal.
  std::vector<std::string> calls{};
  // By unit and name, as they were last set.
  std::map<std::string, std::map<std::string, sdbus::Variant>> properties{};
  // While false, starts and stops are left without an answer, and nothing is done about them.
  bool answers = true;
  // A call of this method goes unheard, as what a systemd has not read when it executes itself anew.
  std::string deaf_to{};
  // Does and answers, in their order, what was left.
  void answer_held();
  // Called from on_start and on_stop: happens after the answer, as what follows it does with PID 1.
  void after_answer(std::function<void()> follow_up) { follow_ups_.push_back(std::move(follow_up)); }

  void set_unit(const std::string& unit, const FakeUnit& state);
  [[nodiscard]] const std::map<std::string, FakeUnit>& units() const { return units_; }

  void job_removed(const std::string& path, const std::string& unit, const std::string& result);
  void unit_removed(const std::string& unit);
  void reloading(bool active);
  void properties_changed(const std::string& unit, const std::string& interface,
                          const std::map<std::string, sdbus::Variant>& values);
  // The two signals by which PID 1 tells the present state of a service.
  void announce(const std::string& unit);

 private:
  struct Held {
    sdbus::MethodCall call;
    std::string unit;
    const Act& act;
  };
  using Method = std::function<void(sdbus::MethodCall&)>;

  void add(const char* method, const char* in, const char* out, Method act);
  void add_unit_job(const char* method, const char* in, const Act& act);
  void add_plain(const char* method, const char* in);
  void set_properties(sdbus::MethodCall& call);
  void answer(Held& held);
  void list_units(sdbus::MethodCall& call) const;
  sdbus::IObject& unit_object(const std::string& unit);

  std::unique_ptr<sdbus::IConnection> connection_;
  systemd::BusEventSource source_;
  std::map<std::string, FakeUnit> units_;
  std::unique_ptr<sdbus::IObject> manager_;
  std::map<std::string, std::unique_ptr<sdbus::IObject>> objects_;
  std::vector<Held> held_;
  std::vector<std::function<void()>> follow_ups_;
};

}  // namespace mljobd::test
