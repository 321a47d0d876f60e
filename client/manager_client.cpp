#include "client/manager_client.hpp"

#include <cstdlib>
#include <utility>

#include <poll.h>
#include <sdbus-c++/sdbus-c++.h>

#include "bus/values.hpp"
#include "client/manager_answers.hpp"

namespace mljobd::client {
namespace {

using mljobd::bus::VariantMap;

constexpr const char* service = "org.mljobd1";
constexpr const char* manager_path = "/org/mljobd1";
constexpr const char* manager_interface = "org.mljobd1.Manager";
constexpr const char* job_interface = "org.mljobd1.Job";
constexpr const char* properties_interface = "org.freedesktop.DBus.Properties";
// A foreground start waits for PID 1, which can be slow when it is busy; the bus's own 25 s would be short.
constexpr std::chrono::seconds call_timeout(90);

std::unique_ptr<sdbus::IConnection> open_bus(Bus bus) {
  const char* address = std::getenv("MLJOBD_BUS_ADDRESS");  // NOLINT(concurrency-mt-unsafe): one thread
  if (address != nullptr && *address != '\0') return sdbus::createSessionBusConnectionWithAddress(address);
  return bus == Bus::system ? sdbus::createSystemBusConnection() : sdbus::createSessionBusConnection();
}

Failure no_bus(Bus bus, const std::string& reason) {
  if (bus == Bus::session) {
    return {.message =
                "there is no session bus (" + reason +
                "): log in with a systemd user session, and install it with `sudo apt install dbus-user-session`"};
  }
  return {.message = "the system bus cannot be reached (" + reason + "): `sudo systemctl start dbus`"};
}

}  // namespace

struct ManagerClient::Connection {
  Bus bus = Bus::system;
  std::unique_ptr<sdbus::IConnection> link;
  std::unique_ptr<sdbus::IProxy> manager;
  std::string daemon_name;  // on the bus, ":1.42": whose answer was the last
  sdbus::Slot daemon_watch;

  // Asked for, not made up: a job of the history has an object only once somebody asks for it.
  std::unique_ptr<sdbus::IProxy> job(core::JobId id) const {
    sdbus::ObjectPath path;
    manager->callMethod("GetJob").onInterface(manager_interface).withArguments(id).storeResultsTo(path);
    return sdbus::createProxy(*link, service, path);
  }

  // Runs a call; what sdbus throws becomes a failure.
  template <class Call>
  auto guarded(Call&& call) const -> Outcome<decltype(call())> {
    try {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return {};
      } else {
        return call();
      }
    } catch (const sdbus::Error& error) {
      return tl::unexpected(failure_from_bus_error(error.getName(), error.getMessage(), bus));
    }
  }

  // The answer of a method of the manager, to be read as it is.
  template <class... Arguments>
  sdbus::MethodReply ask(const char* method, const Arguments&... arguments) {
    auto call = manager->createMethodCall(manager_interface, method);
    (void)(call << ... << arguments);
    auto answer = manager->callMethod(call);
    daemon_name = answer.getSender();
    return answer;
  }

  // Anybody on the bus may send a signal of that name straight to us, but not in another's name.
  [[nodiscard]] bool is_from_daemon(const sdbus::Message* message) const {
    return message != nullptr && !daemon_name.empty() && message->getSender() == daemon_name;
  }

  template <class... Arguments>
  Outcome<Rows> rows(const char* method, const Arguments&... arguments) {
    return guarded([&] {
      auto answer = ask(method, arguments...);
      return read_dictionaries(answer);
    });
  }

  template <class... Arguments>
  Outcome<core::ValueMap> dictionary(const char* method, const Arguments&... arguments) {
    return guarded([&] {
      auto answer = ask(method, arguments...);
      return read_dictionary(answer);
    });
  }

  // A method of a job that takes options only, after the given arguments.
  template <class... Arguments>
  Outcome<void> call_job(core::JobId id, const char* method, const Arguments&... arguments) const {
    return guarded([&] { job(id)->callMethod(method).onInterface(job_interface).withArguments(arguments...); });
  }

  static core::ValueMap all_properties(sdbus::IProxy& proxy, const char* interface) {
    auto call = proxy.createMethodCall(properties_interface, "GetAll");
    call << interface;
    auto answer = proxy.callMethod(call);
    return read_dictionary(answer);
  }
};

ManagerClient::ManagerClient(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
ManagerClient::~ManagerClient() = default;

Outcome<std::unique_ptr<ManagerClient>> ManagerClient::connect(Bus bus) {
  auto connection = std::make_unique<Connection>();
  connection->bus = bus;
  try {
    connection->link = open_bus(bus);
    connection->link->setMethodCallTimeout(call_timeout);
    connection->manager = sdbus::createProxy(*connection->link, service, manager_path);
  } catch (const sdbus::Error& error) {
    return tl::unexpected(no_bus(bus, error.getMessage()));
  }
  return std::unique_ptr<ManagerClient>(new ManagerClient(std::move(connection)));
}

Outcome<core::JobId> ManagerClient::submit(const core::ValueMap& spec, const core::ValueMap& options) {
  return connection_->guarded([&] {
    core::JobId id = 0;
    auto answer = connection_->ask("Submit", mljobd::bus::to_variants(spec), mljobd::bus::to_variants(options));
    answer >> id;
    return id;
  });
}

Outcome<std::vector<core::JobId>> ManagerClient::submit_pipeline(const Rows& specs, const core::ValueMap& options) {
  return connection_->guarded([&] {
    std::vector<VariantMap> variants;
    for (const auto& spec : specs) variants.push_back(mljobd::bus::to_variants(spec));
    std::vector<sdbus::Struct<core::JobId, sdbus::ObjectPath>> jobs;
    auto answer = connection_->ask("SubmitPipeline", variants, mljobd::bus::to_variants(options));
    answer >> jobs;
    std::vector<core::JobId> ids;
    for (const auto& job : jobs) ids.push_back(job.get<0>());
    return ids;
  });
}

Outcome<Rows> ManagerClient::preview(const Rows& specs) {
  std::vector<VariantMap> variants;
  for (const auto& spec : specs) variants.push_back(mljobd::bus::to_variants(spec));
  return connection_->rows("Preview", variants, VariantMap{});
}

Outcome<core::JobId> ManagerClient::start_foreground(int pidfd, const core::ValueMap& spec) {
  return connection_->guarded([&] {
    core::JobId id = 0;
    sdbus::ObjectPath path;
    connection_->manager->callMethod("StartForeground")
        .onInterface(manager_interface)
        .withArguments(sdbus::UnixFd(pidfd), mljobd::bus::to_variants(spec), VariantMap{})
        .storeResultsTo(id, path);
    return id;
  });
}

Outcome<core::JobId> ManagerClient::adopt(const std::vector<UniqueFd>& pidfds, const core::ValueMap& spec) {
  return connection_->guarded([&] {
    std::vector<sdbus::UnixFd> fds;
    for (const auto& fd : pidfds) fds.emplace_back(fd.get());
    core::JobId id = 0;
    sdbus::ObjectPath path;
    connection_->manager->callMethod("Adopt")
        .onInterface(manager_interface)
        .withArguments(fds, mljobd::bus::to_variants(spec), VariantMap{})
        .storeResultsTo(id, path);
    return id;
  });
}

Outcome<Rows> ManagerClient::list_jobs(const core::ValueMap& filter) {
  return connection_->rows("ListJobs", mljobd::bus::to_variants(filter));
}

Outcome<Rows> ManagerClient::list_events(const core::ValueMap& filter) {
  return connection_->rows("ListEvents", mljobd::bus::to_variants(filter));
}

Outcome<Rows> ManagerClient::list_classes() { return connection_->rows("ListClasses"); }

Outcome<core::ValueMap> ManagerClient::resources() { return connection_->dictionary("GetResources"); }

Outcome<core::ValueMap> ManagerClient::advise(const core::ValueMap& request) {
  return connection_->dictionary("Advise", mljobd::bus::to_variants(request));
}

Outcome<Rows> ManagerClient::act_on_many(const std::string& method, const std::vector<core::JobId>& ids) {
  return connection_->rows(method.c_str(), ids, VariantMap{});
}

Outcome<void> ManagerClient::change_admission(const std::string& method) {
  return connection_->guarded(
      [&] { connection_->manager->callMethod(method).onInterface(manager_interface).withArguments(VariantMap{}); });
}

Outcome<void> ManagerClient::reload() {
  return connection_->guarded([&] { connection_->manager->callMethod("Reload").onInterface(manager_interface); });
}

Outcome<core::ValueMap> ManagerClient::manager_properties() {
  return connection_->guarded([&] { return Connection::all_properties(*connection_->manager, manager_interface); });
}

Outcome<core::ValueMap> ManagerClient::job_properties(core::JobId id) {
  return connection_->guarded([&] { return Connection::all_properties(*connection_->job(id), job_interface); });
}

Outcome<void> ManagerClient::signal_job(core::JobId id, int signal, const core::ValueMap& options) {
  return connection_->call_job(id, "Signal", std::int32_t{signal}, mljobd::bus::to_variants(options));
}

Outcome<void> ManagerClient::freeze(core::JobId id) { return connection_->call_job(id, "Freeze", VariantMap{}); }

Outcome<void> ManagerClient::thaw(core::JobId id) { return connection_->call_job(id, "Thaw", VariantMap{}); }

Outcome<void> ManagerClient::park(core::JobId id) { return connection_->call_job(id, "Park", VariantMap{}); }

Outcome<void> ManagerClient::unpark(core::JobId id) { return connection_->call_job(id, "Unpark", VariantMap{}); }

Outcome<void> ManagerClient::set_limits(core::JobId id, const core::ValueMap& limits) {
  return connection_->call_job(id, "SetLimits", mljobd::bus::to_variants(limits), VariantMap{});
}

Outcome<UniqueFd> ManagerClient::open_log(core::JobId id, std::optional<std::uint32_t> attempt) {
  return connection_->guarded([&] {
    VariantMap options;
    if (attempt) options.emplace("attempt", sdbus::Variant(*attempt));
    sdbus::UnixFd log;
    connection_->job(id)->callMethod("OpenLog").onInterface(job_interface).withArguments(options).storeResultsTo(log);
    return UniqueFd(log.release());
  });
}

Outcome<core::SampleColumns> ManagerClient::samples(core::JobId id) {
  return connection_->guarded([&] {
    core::SampleColumns columns;
    connection_->job(id)
        ->callMethod("GetSamples")
        .onInterface(job_interface)
        .withArguments(VariantMap{})
        .storeResultsTo(columns);
    return columns;
  });
}

Outcome<void> ManagerClient::report_exit(core::JobId id, int exit_code, unsigned exit_signal) {
  return connection_->call_job(id, "ReportExit", std::int32_t{exit_code}, std::uint32_t{exit_signal}, VariantMap{});
}

Outcome<void> ManagerClient::subscribe(std::function<void(const StateChange&)> handler,
                                       std::function<void()> otherwise) {
  return connection_->guarded([&] {
    if (otherwise) {
      connection_->manager->uponSignal("Decision")
          .onInterface(manager_interface)
          .call([otherwise](const VariantMap& /*decision*/) { otherwise(); });
      connection_->manager->uponSignal("ForecastChanged")
          .onInterface(manager_interface)
          .call([otherwise](std::uint32_t /*id*/, const sdbus::ObjectPath& /*job*/, const std::string& /*news*/,
                            const VariantMap& /*forecast*/) { otherwise(); });
    }
    connection_->manager->uponSignal("JobStateChanged")
        .onInterface(manager_interface)
        .call([this, handler = std::move(handler)](std::uint32_t id, const sdbus::ObjectPath& /*job*/,
                                                   const std::string& old_state, const std::string& new_state,
                                                   const std::string& reason) {
          handler({.id = id,
                   .old_state = old_state,
                   .new_state = new_state,
                   .reason = reason,
                   .certain = connection_->is_from_daemon(connection_->manager->getCurrentlyProcessedMessage())});
        });
    connection_->manager->finishRegistration();
  });
}

Outcome<void> ManagerClient::watch_daemon(std::function<void(bool present)> handler) {
  return connection_->guarded([&] {
    const std::string rule =
        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',interface='org.freedesktop.DBus',"
        "member='NameOwnerChanged',arg0='" +
        std::string(service) + "'";
    connection_->daemon_watch =
        connection_->link->addMatch(rule, [handler = std::move(handler)](sdbus::Message& message) {
          std::string name;
          std::string old_owner;
          std::string new_owner;
          message >> name >> old_owner >> new_owner;
          handler(!new_owner.empty());
        });
  });
}

Outcome<void> ManagerClient::run_once(std::chrono::milliseconds timeout) {
  return connection_->guarded([&] {
    // What arrived during a call waits in the queue and would never wake poll.
    bool handled = false;
    while (connection_->link->processPendingRequest()) handled = true;
    if (handled) return;
    const auto wanted = connection_->link->getEventLoopPollData();
    struct pollfd descriptor = {.fd = wanted.fd, .events = wanted.events, .revents = 0};
    if (::poll(&descriptor, 1, static_cast<int>(timeout.count())) <= 0) return;
    while (connection_->link->processPendingRequest()) continue;
  });
}

}  // namespace mljobd::client
