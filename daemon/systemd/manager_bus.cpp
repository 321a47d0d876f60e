#include "systemd/manager_bus.hpp"

#include <chrono>
#include <utility>

namespace mljobd::systemd {
namespace {

constexpr const char* manager_path = "/org/freedesktop/systemd1";
constexpr const char* bus_name = "org.freedesktop.DBus";
constexpr auto call_timeout = std::chrono::seconds(90);

}  // namespace

ManagerBus::ManagerBus(sdbus::IConnection& connection, FailureHandler failed, std::function<void(bool)> owner_changed)
    : connection_(connection),
      failed_(std::move(failed)),
      owner_changed_(std::move(owner_changed)),
      manager_(sdbus::createProxy(connection, manager_name, manager_path)) {
  watch_owner();
  owner_ = ask_owner();
}

void ManagerBus::watch_owner() {
  const auto handler = [this](sdbus::Message& message) {
    // The bus daemon forges no sender, and nobody else can use its name.
    if (message.getSender() != bus_name) return;
    std::string name;
    std::string old_owner;
    std::string new_owner;
    message >> name >> old_owner >> new_owner;
    if (name != manager_name) return;
    owner_ = new_owner;
    owner_changed_(!owner_.empty());
  };
  owner_match_ = connection_.addMatch(
      "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
      "arg0='org.freedesktop.systemd1'",
      [this, handler](sdbus::Message& message) { guarded(failed_, [&] { handler(message); }); });
}

std::string ManagerBus::ask_owner() {
  const auto bus = sdbus::createProxy(connection_, bus_name, "/org/freedesktop/DBus");
  std::string owner;
  try {
    bus->callMethod("GetNameOwner")
        .onInterface(bus_name)
        .withArguments(std::string(manager_name))
        .storeResultsTo(owner);
  } catch (const sdbus::Error&) {
    return {};  // nobody has it; NameOwnerChanged will tell
  }
  return owner;
}

ManagerBus::Reply ManagerBus::guarded_reply(Reply reply) {
  return [this, reply = std::move(reply)](sdbus::MethodReply& message, const sdbus::Error* error) {
    guarded(failed_, [&] { reply(message, error); });
  };
}

void ManagerBus::call(const char* method, const Fill& fill, Reply reply) {
  try {
    auto message = manager_->createMethodCall(manager_interface, method);
    fill(message);
    manager_->callMethod(message, guarded_reply(reply), call_timeout);
  } catch (const sdbus::Error& error) {
    sdbus::MethodReply none;
    reply(none, &error);
  }
}

void ManagerBus::call_object(const std::string& path, const char* interface, const char* method, const Fill& fill,
                             Reply reply) {
  finished_.clear();
  const auto id = next_object_++;
  const auto answered = [this, id, reply](sdbus::MethodReply& message, const sdbus::Error* error) {
    reply(message, error);
    auto node = objects_.extract(id);
    if (!node.empty()) finished_.push_back(std::move(node.mapped()));
  };
  try {
    auto proxy = sdbus::createProxy(connection_, manager_name, path);
    auto message = proxy->createMethodCall(interface, method);
    fill(message);
    proxy->callMethod(message, guarded_reply(answered), call_timeout);
    objects_.emplace(id, std::move(proxy));
  } catch (const sdbus::Error& error) {
    sdbus::MethodReply none;
    reply(none, &error);
  }
}

// libsystemd cannot tell a forged sender by the well-known name in a rule: on the system bus any user may send us a
// signal that looks like PID 1's, and the end of a job is believed from one.
sdbus::Slot ManagerBus::match_manager(const std::string& rule, Handler handler) {
  return connection_.addMatch(std::string("type='signal',sender='") + manager_name + "'," + rule,
                              [this, handler = std::move(handler)](sdbus::Message& message) {
                                if (owner_.empty() || message.getSender() != owner_) return;
                                guarded(failed_, [&] { handler(message); });
                              });
}

core::Error to_error(const sdbus::Error& error) {
  const auto& name = error.getName();
  std::string message = error.getMessage();
  if (name == "org.freedesktop.DBus.Error.NoReply" || name == "org.freedesktop.DBus.Error.Timeout") {
    message = "systemd did not answer: " + message;
  } else if (name == "org.freedesktop.DBus.Error.ServiceUnknown" ||
             name == "org.freedesktop.DBus.Error.NameHasNoOwner") {
    message = "systemd is not on the bus: " + message;
  }
  return {.code = core::ErrorCode::service_manager, .message = message.empty() ? name : message};
}

}  // namespace mljobd::systemd
