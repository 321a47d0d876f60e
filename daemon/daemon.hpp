// The composition root: builds the parts, starts them in the order that lets no event be lost, and ends them.
#pragma once

#include <memory>
#include <optional>

#include <sdbus-c++/sdbus-c++.h>

#include "bus/front_end.hpp"
#include "core/settings.hpp"
#include "job_manager.hpp"
#include "job_runner.hpp"
#include "kernel/job_logs.hpp"
#include "kernel/unique_fd.hpp"
#include "paths.hpp"
#include "pressure_guard.hpp"
#include "reconciler.hpp"
#include "store/store.hpp"
#include "systemd/bus_event_source.hpp"
#include "systemd/event_loop.hpp"
#include "systemd/service_manager.hpp"

namespace mljobd {

// Exit codes of the process; the unit file names the first as one that a restart does not mend.
inline constexpr int exit_configuration = 78;  // EX_CONFIG

class Daemon {
 public:
  explicit Daemon(systemd::ManagerScope scope) : scope_(scope) {}

  // Runs until it is told to stop. Returns the exit code.
  int run();

 private:
  // The parts, in the order in which they are built; they go in the opposite one.
  struct Parts {
    Parts(systemd::ManagerScope scope, Paths found, store::Store opened, kernel::Machine machine,
          core::Settings settings, std::unique_ptr<sdbus::IConnection> bus, Daemon& daemon);

    systemd::EventLoop loop;
    std::unique_ptr<sdbus::IConnection> connection;
    Paths paths;
    store::Store store;
    kernel::JobLogs logs;
    systemd::ServiceManager service_manager;
    JobManager manager;
    JobRunner runner;
    PressureGuard guard;
    bus::FrontEnd front_end;
    Reconciler reconciler;
    systemd::BusEventSource bus_events;
  };

  [[nodiscard]] core::Expected<void> build();
  [[nodiscard]] core::Expected<void> lock(const std::string& directory);
  [[nodiscard]] core::Expected<core::Settings> load_settings() const;
  [[nodiscard]] core::Expected<void> reload();
  void set_up_slices();
  void set_up_class_slice(const core::JobClass& job_class);
  void lock_memory();
  void reconciled(const core::Expected<void>& outcome);
  void fail(const std::string& why);

  systemd::ManagerScope scope_;
  Paths paths_;
  kernel::UniqueFd lock_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mljobd
