#include "daemon.hpp"

#include <csignal>
#include <cstdlib>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "config/config.hpp"
#include "core/unit_names.hpp"
#include "kernel/own_memory.hpp"
#include "log.hpp"
#include "systemd/unit_properties.hpp"

namespace mljobd {
namespace {

std::unique_ptr<sdbus::IConnection> connect(systemd::ManagerScope scope) {
  if (const char* address = std::getenv("MLJOBD_BUS_ADDRESS")) {
    return sdbus::createSessionBusConnectionWithAddress(address);
  }
  return scope == systemd::ManagerScope::system ? sdbus::createSystemBusConnection()
                                                : sdbus::createSessionBusConnection();
}

std::string mode_of(systemd::ManagerScope scope) { return scope == systemd::ManagerScope::system ? "system" : "user"; }

}  // namespace

Daemon::Parts::Parts(systemd::ManagerScope scope, Paths found, store::Store opened, kernel::Machine machine,
                     core::Settings settings, std::unique_ptr<sdbus::IConnection> bus, Daemon& daemon)
    : connection(std::move(bus)),
      paths(std::move(found)),
      store(std::move(opened)),
      logs(paths.log_directory),
      service_manager(*connection, scope,
                      {.changed = [this](const systemd::UnitStatus& status) { runner.unit_changed(status); },
                       .removed = [this](const std::string& unit) { runner.unit_removed(unit); },
                       .reloaded = [this] { runner.refresh_all(); },
                       .availability =
                           [this](bool available) {
                             if (available) runner.refresh_all();
                           },
                       .failed = [&daemon](std::string_view what) { daemon.fail(std::string(what)); }}),
      manager(loop, store, logs, machine, std::move(settings)),
      runner(loop, service_manager, logs, paths,
             {.find_job = [this](core::JobId id) { return manager.find(id); },
              .report = [this](core::JobId id, const core::JobEvent& event) { manager.handle(id, event); },
              .released = [this](core::JobId id) { manager.units_released(id); },
              .settings = [this]() -> const core::Settings& { return manager.settings(); },
              .cpus_for = [this](const core::Job& job) { return manager.cpus_for(job); },
              .all_cpus = [this] { return core::all_cpus(manager.topology()); },
              .cpu_allotment = [this](const core::Job& job) { return manager.cpu_allotment(job); }}),
      guard(loop, manager, runner, paths),
      front_end(loop, *connection, store, manager, runner, getuid(), mode_of(scope),
                [&daemon] { return daemon.reload(); }),
      reconciler(service_manager, manager, runner, store, machine.boot_id),
      bus_events(loop, *connection, [&daemon] { daemon.fail("the message bus closed the connection"); }) {
  manager.connect(runner, guard, front_end);
}

core::Expected<void> Daemon::lock(const std::string& directory) {
  const std::string path = directory + "/lock";
  lock_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) return core::failure(core::ErrorCode::storage, "cannot open " + path);
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  return core::failure(core::ErrorCode::storage,
                       "another mljobd runs on " + directory + "; there can be only one (`systemctl status mljobd`)");
}

core::Expected<core::Settings> Daemon::load_settings() const {
  return config::load_settings({.file = paths_.configuration_file, .directory = paths_.configuration_directory});
}

core::Expected<void> Daemon::build() {
  auto paths = find_paths(scope_);
  if (!paths) return tl::unexpected(paths.error());
  paths_ = *paths;
  if (auto locked = lock(paths_.state_directory); !locked) return locked;
  auto settings = load_settings();
  if (!settings) return tl::unexpected(settings.error());
  auto machine = kernel::read_machine("/", paths_.cgroup_prefix);
  if (!machine) return tl::unexpected(machine.error());
  auto store = store::Store::open(paths_.state_directory + "/jobs.db");
  if (!store) return tl::unexpected(store.error());
  const auto set_aside = store->set_aside();
  parts_ = std::make_unique<Parts>(scope_, paths_, std::move(*store), std::move(*machine), std::move(*settings),
                                   connect(scope_), *this);
  if (set_aside) {
    parts_->manager.set_problem(
        "damaged", "the job records were damaged and a new, empty database was begun; the old one is " + *set_aside +
                       ": recover from it what you need, then remove it and restart mljobd");
  }
  return parts_->manager.load();
}

int Daemon::run() {
  log::open();
  if (const auto built = build(); !built) {
    log::error(built.error().message);
    return built.error().code == core::ErrorCode::invalid_config ? exit_configuration : EXIT_FAILURE;
  }
  auto& loop = parts_->loop;
  loop.on_failure([](std::string_view what) { log::error(what); });
  for (const int number : {SIGTERM, SIGINT}) loop.on_signal(number, [&loop] { loop.exit(EXIT_SUCCESS); });
  loop.on_signal(SIGHUP, [this] {
    if (const auto reloaded = reload(); !reloaded) log::error(reloaded.error().message);
  });
  loop.enable_watchdog();
  // Matches before questions: what changes while they are answered is heard.
  parts_->service_manager.watch_units();
  set_up_slices();
  parts_->reconciler.run([this](const core::Expected<void>& outcome) { reconciled(outcome); });
  const int code = loop.run();
  parts_->manager.write_samples();
  sd_notify(0, "STOPPING=1");
  return code;
}

void Daemon::fail(const std::string& why) {
  log::error(why);
  parts_->loop.exit(EXIT_FAILURE);
}

void Daemon::set_up_slices() {
  const auto account = parts_->manager.memory();
  parts_->service_manager.set_properties(
      std::string(core::root_slice), systemd::root_slice_properties(account.jobs_max),
      [this](const core::Expected<void>& done) {
        parts_->manager.set_problem("root slice", done ? ""
                                                       : "mljob.slice has no memory limit, so jobs can take the "
                                                         "whole machine: " +
                                                             done.error().message);
      });
  for (const auto& job_class : parts_->manager.settings().classes) set_up_class_slice(job_class);
}

void Daemon::set_up_class_slice(const core::JobClass& job_class) {
  // One that exists already cannot be created again; its properties are then set instead.
  parts_->service_manager.start(
      systemd::class_slice_request(job_class), [this, job_class](const core::Expected<std::string>& started) {
        if (started) return;
        parts_->service_manager.set_properties(
            core::class_slice(job_class.name), systemd::class_slice_properties(job_class),
            [this, name = job_class.name](const core::Expected<void>& done) {
              parts_->manager.set_problem(
                  "class " + name,
                  done ? "" : "the weights of class " + name + " are not in force: " + done.error().message);
            });
      });
}

void Daemon::reconciled(const core::Expected<void>& outcome) {
  if (!outcome) return fail("systemd did not list its units: " + outcome.error().message);
  if (!parts_->runner.holds_any_units()) parts_->service_manager.unwatch_units();
  parts_->front_end.show_all();
  try {
    parts_->connection->requestName(bus::bus_name);
  } catch (const sdbus::Error& error) {
    return fail(std::string("the bus does not give us the name ") + bus::bus_name + ": " + error.getMessage() +
                " (is another mljobd running, or the bus policy not installed?)");
  }
  parts_->manager.begin();
  // What start-up needed and the rest of the life does not.
  kernel::give_memory_back();
  lock_memory();
  sd_notify(0, "READY=1");
}

void Daemon::lock_memory() {
  const auto locked = kernel::lock_own_memory();
  // A user's manager cannot allow it, and that user can do nothing about it.
  if (scope_ == systemd::ManagerScope::user) return;
  parts_->manager.set_problem("own memory", locked ? "" : locked.error().message);
}

core::Expected<void> Daemon::reload() {
  auto settings = load_settings();
  if (!settings) {
    log::error(settings.error().message + "; the settings in force stay");
    return tl::unexpected(settings.error());
  }
  std::set<std::string> missing;
  for (const auto& [id, job] : parts_->manager.jobs()) {
    if (!core::is_finished(job.state) && core::find_class(*settings, job.spec.class_name) == nullptr) {
      missing.insert(job.spec.class_name);
    }
  }
  if (!missing.empty()) {
    return core::failure(core::ErrorCode::invalid_config,
                         paths_.configuration_file + ": class " + *missing.begin() +
                             " still has unfinished jobs and cannot be removed; the settings in force stay");
  }
  parts_->manager.apply_settings(std::move(*settings));
  set_up_slices();
  log::info("configuration read again");
  return {};
}

}  // namespace mljobd
