// A private bus, and something on it that answers to systemd's name: for what a real PID 1 will not do on demand.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>
#include <sys/types.h>

#include "systemd/bus_event_source.hpp"
#include "systemd/event_loop.hpp"

namespace mljobd::test {

class PrivateBus {
 public:
  PrivateBus();
  ~PrivateBus();
  PrivateBus(const PrivateBus&) = delete;
  PrivateBus& operator=(const PrivateBus&) = delete;

  [[nodiscard]] std::unique_ptr<sdbus::IConnection> connect() const {
    return sdbus::createSessionBusConnectionWithAddress(address_);
  }
  void end();

 private:
  pid_t daemon_ = -1;
  std::string address_;
};

// Runs the loop until the condition holds; false when it did not within ten seconds.
bool run_until(systemd::EventLoop& loop, const std::function<bool()>& condition);
// Lets everything that is under way arrive.
void settle(systemd::EventLoop& loop);

class FakeManager {
 public:
  FakeManager(systemd::EventLoop& loop, const PrivateBus& bus);

  // What StartTransientUnit and StopUnit do: return the path of the job, throw an error, or neither.
  std::function<std::string(const std::string& unit)> on_start = [](const std::string&) { return "/job/1"; };
  std::function<std::string(const std::string& unit)> on_stop = on_start;
  std::vector<std::string> calls{};
  bool answers = true;

  void job_removed(const std::string& path, const std::string& unit, const std::string& result);
  void unit_removed(const std::string& unit);
  void reloading(bool active);
  void properties_changed(const std::string& unit, const std::string& interface,
                          const std::map<std::string, sdbus::Variant>& values);
  // What GetAll says of it from now on.
  void add_unit(const std::string& unit, const std::string& active, const std::string& result);

 private:
  void answer(const char* method, sdbus::MethodCall call, const std::function<std::string(const std::string&)>& act);
  sdbus::IObject& unit_object(const std::string& unit);

  std::unique_ptr<sdbus::IConnection> connection_;
  systemd::BusEventSource source_;
  std::unique_ptr<sdbus::IObject> manager_;
  std::map<std::string, std::unique_ptr<sdbus::IObject>> units_;
  std::vector<sdbus::MethodCall> unanswered_;
};

}  // namespace mljobd::test
