#include <array>

#include "client/manager_client.hpp"

namespace mljobd::client {
namespace {

constexpr std::string_view own_prefix = "org.mljobd1.Error.";
constexpr std::string_view bus_prefix = "org.freedesktop.DBus.Error.";

int code_of_own_error(std::string_view name) {
  if (name == "NoSuchJob") return exit_code::no_such_job;
  if (name == "InvalidState") return exit_code::invalid_state;
  if (name == "InvalidSpec") return exit_code::usage;
  return exit_code::failed;
}

std::string systemctl(Bus bus, std::string_view command) {
  return (bus == Bus::system ? "sudo systemctl " : "systemctl --user ") + std::string(command);
}

Failure daemon_is_gone(Bus bus) {
  return {.message = "mljobd is not running: `" + systemctl(bus, "start mljobd") + "`; if it does not stay up, `" +
                     (bus == Bus::system ? "sudo journalctl" : "journalctl --user") + " -u mljobd -n 20` says why",
          .daemon_gone = true};
}

bool means_no_daemon(std::string_view name) {
  constexpr std::array<std::string_view, 4> errors{"ServiceUnknown", "NameHasNoOwner", "NoReply", "TimedOut"};
  for (const auto error : errors) {
    if (name == error) return true;
  }
  // Activation was tried and failed; with systemd in between its own error names come through.
  return name.starts_with("Spawn.");
}

}  // namespace

Failure failure_from_bus_error(std::string_view name, std::string_view message, Bus bus) {
  if (name.starts_with(own_prefix)) {
    return {.exit_code = code_of_own_error(name.substr(own_prefix.size())), .message = std::string(message)};
  }
  if (name.starts_with("org.freedesktop.systemd1.")) return daemon_is_gone(bus);
  if (!name.starts_with(bus_prefix)) return {.message = std::string(message) + " (" + std::string(name) + ")"};
  name.remove_prefix(bus_prefix.size());
  if (means_no_daemon(name)) {
    auto failure = daemon_is_gone(bus);
    if (name == "NoReply" || name == "TimedOut") {
      failure.message =
          "mljobd did not answer (stopped in the middle, or hung): `" + systemctl(bus, "status mljobd") + "`";
    }
    return failure;
  }
  if (name == "UnknownObject") return {.exit_code = exit_code::no_such_job, .message = "there is no such job"};
  if (name == "UnknownMethod" || name == "UnknownInterface" || name == "UnknownProperty") {
    return {.message = "mljobd is of another version than this jobctl (" + std::string(message) + "): `" +
                       systemctl(bus, "restart mljobd") + "` after an upgrade"};
  }
  if (name == "AccessDenied") {
    return {.message = "the bus refuses access (" + std::string(message) +
                       "): the policy org.mljobd1.conf is missing from /usr/share/dbus-1/system.d, or `" +
                       systemctl(bus, "reload dbus") + "` is"};
  }
  return {.message = std::string(message)};
}

}  // namespace mljobd::client
