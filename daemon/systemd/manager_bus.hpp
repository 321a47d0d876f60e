// The bus side of ServiceManager: calls with a deadline, matches, and who owns systemd's name. Knows no unit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "core/types.hpp"
#include "systemd/guard.hpp"

namespace mljobd::systemd {

inline constexpr const char* manager_name = "org.freedesktop.systemd1";
inline constexpr const char* manager_interface = "org.freedesktop.systemd1.Manager";
inline constexpr const char* properties_interface = "org.freedesktop.DBus.Properties";

class ManagerBus {
 public:
  using Fill = std::function<void(sdbus::MethodCall&)>;
  // The error is null where there is a reply.
  using Reply = std::function<void(sdbus::MethodReply&, const sdbus::Error*)>;
  using Handler = std::function<void(sdbus::Message&)>;

  // owner_changed(true) when the manager is on the bus again, (false) when it has left.
  ManagerBus(sdbus::IConnection& connection, FailureHandler failed, std::function<void(bool)> owner_changed);

  // Where nothing can be sent, `reply` is called at once.
  void call(const char* method, const Fill& fill, Reply reply);
  void call_object(const std::string& path, const char* interface, const char* method, const Fill& fill, Reply reply);

  [[nodiscard]] bool manager_is_present() const { return !owner_.empty(); }

  // Only signals that the manager itself sent reach the handler.
  [[nodiscard]] sdbus::Slot match_manager(const std::string& rule, Handler handler);

 private:
  void watch_owner();
  [[nodiscard]] std::string ask_owner();
  [[nodiscard]] ManagerBus::Reply guarded_reply(Reply reply);

  sdbus::IConnection& connection_;
  FailureHandler failed_;
  std::function<void(bool)> owner_changed_;
  std::string owner_;
  std::unique_ptr<sdbus::IProxy> manager_;
  // sdbus-c++ 1.2 binds a call to a proxy and a proxy to one path; a proxy must not go away in its own handler.
  std::map<std::uint64_t, std::unique_ptr<sdbus::IProxy>> objects_;
  std::vector<std::unique_ptr<sdbus::IProxy>> finished_;
  std::uint64_t next_object_ = 0;
  sdbus::Slot owner_match_;
};

// In the words of the manager, or of the bus where the manager did not answer.
[[nodiscard]] core::Error to_error(const sdbus::Error& error);

}  // namespace mljobd::systemd
