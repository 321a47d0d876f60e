// The proxy of org.freedesktop.systemd1, PID 1 or `systemd --user`: every call is asynchronous and every answer typed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "core/types.hpp"
#include "systemd/guard.hpp"
#include "systemd/unit_request.hpp"

namespace mljobd::systemd {

enum class ActiveState { inactive, activating, active, reloading, deactivating, failed, unknown };

struct UnitStatus {
  std::string unit{};
  bool loaded = false;  // false: PID 1 does not know it, and nothing else here means anything
  ActiveState active = ActiveState::unknown;
  std::string sub_state{};
  std::string result{};            // "success", "exit-code", "signal", "oom-kill", "timeout", "resources" …
  std::int32_t main_code = 0;      // 0 none, else CLD_EXITED, CLD_KILLED, CLD_DUMPED; a scope has none
  std::int32_t main_status = 0;    // the exit code or the signal
  std::uint64_t main_started = 0;  // µs since the epoch; 0 = never, as is the next
  std::uint64_t main_exited = 0;   // when PID 1 reaped it
  std::uint32_t main_pid = 0;
  std::string invocation_id{};  // 32 hexadecimal digits, or empty
  std::uint32_t unit_job = 0;   // systemd's own that waits or runs for it, 0 = none; only from get_status
  std::string slice{};          // only from get_status
  std::string control_group{};  // only from get_status; empty while it has none

  bool operator==(const UnitStatus&) const = default;
};

// Of a time that PID 1 gave; empty for 0.
[[nodiscard]] inline std::optional<core::RealTime> moment(std::uint64_t microseconds) {
  if (microseconds == 0 || std::cmp_greater(microseconds, core::Microseconds::max().count())) return std::nullopt;
  return core::RealTime(core::Microseconds(static_cast<core::Microseconds::rep>(microseconds)));
}

struct UnitEvents {
  std::function<void(const UnitStatus&)> changed;
  // PID 1 has forgotten it. Also after get_status() of a unit that it did not know.
  std::function<void(const std::string& unit)> removed;
  // PID 1 has read its units again: signals may be missing, list again.
  std::function<void()> reloaded;
  // The service manager has left the bus, or is back on it.
  std::function<void(bool available)> availability;
  // An exception escaped one of these, or the handler of an answer: EventLoop::fail belongs here.
  FailureHandler failed;
};

// Errors are ErrorCode::service_manager with the manager's own sentence. A call that is not answered within 90 s fails.
// Handlers are not called after the destruction of this, and from within the call that was given them only where
// nothing can be sent.
class ServiceManager {
 public:
  using Done = std::function<void(core::Expected<void>)>;
  // The result of systemd's own job: done, failed, timeout, canceled, dependency, skipped…
  using JobDone = std::function<void(core::Expected<std::string>)>;
  using StatusDone = std::function<void(core::Expected<UnitStatus>)>;
  using ListDone = std::function<void(core::Expected<std::vector<UnitStatus>>)>;

  ServiceManager(sdbus::IConnection& connection, ManagerScope scope, UnitEvents events);
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // Signals of units come only in between, so that an idle daemon is not woken by other units' changes.
  void watch_units();
  void unwatch_units();

  // Answered when systemd's job for the unit has ended, which for Type=exec is after the program's execve().
  void start(const UnitRequest& request, JobDone done);
  // Answered when everything in the unit has ended. A unit that is gone already is "done".
  void stop(const std::string& unit, JobDone done);
  // Has PID 1 forget a failed unit. One that is gone already is done.
  void reset_failed(const std::string& unit, Done done);
  // As `systemctl set-property --runtime`.
  void set_properties(const std::string& unit, const std::vector<UnitProperty>& properties, Done done);
  // Answered when the cgroup is frozen, or thawed.
  void freeze(const std::string& unit, Done done);
  void thaw(const std::string& unit, Done done);
  void kill(const std::string& unit, const std::string& who, int signal, Done done);

  // Units in memory whose names match one of the shell patterns; only names and states are filled in.
  void list_units(const std::vector<std::string>& patterns, ListDone done);
  // Everything; of a unit that PID 1 does not know, `loaded` is false.
  void get_status(const std::string& unit, StatusDone done);

  // Such as "252" (the number only); empty until the manager has told it.
  [[nodiscard]] const std::string& version() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mljobd::systemd
