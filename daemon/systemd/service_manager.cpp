#include "systemd/service_manager.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "systemd/manager_bus.hpp"
#include "systemd/unit_jobs.hpp"
#include "systemd/unit_messages.hpp"
#include "systemd/unit_path.hpp"

namespace mljobd::systemd {
namespace {

constexpr std::string_view job_units = "mljob-";
constexpr const char* no_such_unit = "org.freedesktop.systemd1.NoSuchUnit";
constexpr const char* no_reply = "org.freedesktop.DBus.Error.NoReply";
// A cache, not the truth: when it is full it starts anew, and states are asked for again.
constexpr std::size_t known_units_bound = 32768;

bool runs_processes(std::string_view unit) { return unit.ends_with(".service") || unit.ends_with(".scope"); }

// A job that waits behind others leaves the unit as it was.
bool is_underway(const UnitStatus& status) {
  return status.unit_job != 0 || status.active == ActiveState::activating || status.active == ActiveState::deactivating;
}

// What systemd's job must have come to, where the signal of its end was lost in a reload or re-execution.
std::string result_of(UnitJobKind kind, const UnitStatus& status) {
  const bool up = status.loaded && (status.active == ActiveState::active || status.active == ActiveState::reloading);
  if (kind == UnitJobKind::stop) return up ? "canceled" : "done";
  if (up) return "done";
  return status.active == ActiveState::failed ? "failed" : "canceled";
}

}  // namespace

class ServiceManager::Impl {
 public:
  Impl(sdbus::IConnection& connection, UnitEvents events);

  void watch();
  void unwatch();
  struct UnitCall {
    const char* method = nullptr;
    UnitJobKind kind = UnitJobKind::start;
    std::string unit{};
    ManagerBus::Fill fill{};
    JobDone done{};
    bool repeated = false;
  };
  void run_unit_job(UnitCall call);
  void plain_call(const char* method, const ManagerBus::Fill& fill, Done done);
  void list(const std::vector<std::string>& patterns, ListDone done);
  void ask(const std::string& unit, StatusDone done);

  ManagerBus& bus() { return bus_; }
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  struct Known {
    UnitStatus status{};
    UnitStatus reported{};
    bool has_end = false;
  };

  void need_unit_job_match();
  void rest();
  void ask_version();
  void owner_changed(bool available);
  void reloading(sdbus::Message& message);
  void unit_job_removed(sdbus::Message& message);
  void call_answered(const UnitCall& call, sdbus::MethodReply& reply);
  void call_failed(const UnitCall& call, const sdbus::Error& error);
  void find_out(const UnitCall& call, const core::Error& error);
  void find_out_interrupted();
  void check_waiting();
  void unit_job_gone(const std::string& path, const std::string& unit, const UnitStatus& status);
  void unit_removed(sdbus::Message& message);
  void properties_changed(sdbus::Message& message);
  void picture_complete(const std::string& unit, Known& known, PropertiesRead read);

  UnitEvents events_;
  ManagerBus bus_;
  UnitJobs unit_jobs_;
  std::vector<std::pair<UnitCall, core::Error>> interrupted_;  // until the manager is back
  std::map<std::string, Known> known_;
  std::string version_;
  bool watching_ = false;
  bool subscribed_ = false;
  bool resting_ = false;
  bool reloading_ = false;
  sdbus::Slot reloading_match_;
  sdbus::Slot unit_job_match_;
  sdbus::Slot removed_match_;
  sdbus::Slot changed_match_;
};

ServiceManager::Impl::Impl(sdbus::IConnection& connection, UnitEvents events)
    : events_(std::move(events)),
      bus_(connection, events_.failed, [this](bool available) { owner_changed(available); }) {
  reloading_match_ = bus_.match_manager(std::string("interface='") + manager_interface + "',member='Reloading'",
                                        [this](sdbus::Message& message) { reloading(message); });
  ask_version();
}

void ServiceManager::Impl::ask_version() {
  const auto fill = [](sdbus::MethodCall& call) { call << manager_interface << "Version"; };
  bus_.call_object("/org/freedesktop/systemd1", properties_interface, "Get", fill,
                   [this](sdbus::MethodReply& reply, const sdbus::Error* error) {
                     if (error != nullptr) return;
                     sdbus::Variant value;
                     reply >> value;
                     const auto text = value.get<std::string>();
                     version_ = text.substr(0, text.find_first_not_of("0123456789"));
                   });
}

// Matches come before Subscribe, so that no signal falls between the two.
void ServiceManager::Impl::watch() {
  watching_ = true;
  need_unit_job_match();
  if (!removed_match_) {
    removed_match_ = bus_.match_manager(std::string("interface='") + manager_interface + "',member='UnitRemoved'",
                                        [this](sdbus::Message& message) { unit_removed(message); });
  }
  if (!changed_match_) {
    changed_match_ = bus_.match_manager(std::string("interface='") + properties_interface +
                                            "',member='PropertiesChanged',"
                                            "path_namespace='/org/freedesktop/systemd1/unit'",
                                        [this](sdbus::Message& message) { properties_changed(message); });
  }
  if (std::exchange(subscribed_, true)) return;
  bus_.call("Subscribe", [](sdbus::MethodCall&) {}, [](sdbus::MethodReply&, const sdbus::Error*) {});
}

void ServiceManager::Impl::unwatch() {
  watching_ = false;
  rest();
}

void ServiceManager::Impl::need_unit_job_match() {
  if (unit_job_match_) return;
  unit_job_match_ = bus_.match_manager(std::string("interface='") + manager_interface + "',member='JobRemoved'",
                                       [this](sdbus::Message& message) { unit_job_removed(message); });
}

// Runs inside the handlers of the very matches that it ends, so they go when the answer comes, which is another
// handler.
void ServiceManager::Impl::rest() {
  if (watching_ || resting_ || !unit_jobs_.idle()) return;
  resting_ = true;
  subscribed_ = false;
  bus_.call(
      "Unsubscribe", [](sdbus::MethodCall&) {},
      [this](sdbus::MethodReply& reply, const sdbus::Error*) {
        resting_ = false;
        if (watching_ || !unit_jobs_.idle() || !reply.isValid()) return;
        unit_job_match_.reset();
        removed_match_.reset();
        changed_match_.reset();
        known_.clear();
      });
}

void ServiceManager::Impl::run_unit_job(UnitCall call) {
  need_unit_job_match();
  unit_jobs_.call_sent();
  const auto fill = call.fill;
  bus_.call(call.method, fill, [this, call = std::move(call)](sdbus::MethodReply& reply, const sdbus::Error* error) {
    error == nullptr ? call_answered(call, reply) : call_failed(call, *error);
    rest();
  });
}

void ServiceManager::Impl::call_answered(const UnitCall& call, sdbus::MethodReply& reply) {
  sdbus::ObjectPath path;
  reply >> path;
  const auto result = unit_jobs_.expect(path, {.kind = call.kind, .unit = call.unit, .done = call.done});
  unit_jobs_.call_answered();
  if (result) call.done(*result);
}

void ServiceManager::Impl::call_failed(const UnitCall& call, const sdbus::Error& error) {
  unit_jobs_.call_answered();
  if (call.kind == UnitJobKind::stop && error.getName() == no_such_unit) return call.done("done");
  if (error.getName() == no_reply || !bus_.manager_is_present()) return find_out(call, to_error(error));
  call.done(tl::unexpected(to_error(error)));
}

// PID 1 left the bus with the call in hand, as daemon-reexec makes it: it may have acted on it or not.
void ServiceManager::Impl::find_out(const UnitCall& call, const core::Error& error) {
  ask(call.unit, [this, call, error](const core::Expected<UnitStatus>& status) {
    if (!status && bus_.manager_is_present()) return call.done(tl::unexpected(error));
    if (!status) return interrupted_.push_back({call, error});
    if (is_underway(*status)) {
      return unit_jobs_.expect_any({.kind = call.kind, .unit = call.unit, .done = call.done});
    }
    auto result = result_of(call.kind, *status);
    if (result != "canceled") return call.done(std::move(result));
    if (call.repeated) return call.done(tl::unexpected(error));
    UnitCall again = call;
    again.repeated = true;
    run_unit_job(std::move(again));
  });
}

void ServiceManager::Impl::find_out_interrupted() {
  for (const auto& [call, error] : std::exchange(interrupted_, {})) find_out(call, error);
}

void ServiceManager::Impl::unit_job_removed(sdbus::Message& message) {
  std::uint32_t id = 0;
  sdbus::ObjectPath path;
  std::string unit;
  std::string result;
  message >> id >> path >> unit >> result;
  for (const auto& waiting : unit_jobs_.ended(path, unit, result)) waiting.done(result);
  rest();
}

// A signal that was lost while the manager was away would leave somebody waiting for ever.
void ServiceManager::Impl::check_waiting() {
  for (const auto& path_and_unit : unit_jobs_.paths_and_units()) {
    const auto fill = [](sdbus::MethodCall& call) { call << "org.freedesktop.systemd1.Job" << "State"; };
    const auto reply = [this, path = path_and_unit.first, unit = path_and_unit.second](sdbus::MethodReply&,
                                                                                       const sdbus::Error* error) {
      // An answer that did not come says nothing of the job: the manager has left once more and will be asked again.
      if (error == nullptr || error->getName() == no_reply || !bus_.manager_is_present()) return;
      ask(unit, [this, path, unit](const core::Expected<UnitStatus>& status) {
        if (status) unit_job_gone(path, unit, *status);
      });
    };
    bus_.call_object(path_and_unit.first, properties_interface, "Get", fill, reply);
  }
}

// The job at that path is no more, and its end was not heard.
void ServiceManager::Impl::unit_job_gone(const std::string& path, const std::string& unit, const UnitStatus& status) {
  for (auto& waiting : unit_jobs_.ended(path, unit, {})) {
    if (is_underway(status)) {
      unit_jobs_.expect_any(std::move(waiting));
    } else {
      waiting.done(result_of(waiting.kind, status));
    }
  }
  rest();
}

void ServiceManager::Impl::owner_changed(bool available) {
  known_.clear();
  if (available) {
    reloading_ = false;
    subscribed_ = false;
    if (watching_) watch();
    ask_version();
    check_waiting();
    find_out_interrupted();
  }
  if (events_.availability) events_.availability(available);
}

void ServiceManager::Impl::reloading(sdbus::Message& message) {
  message >> reloading_;
  if (reloading_) return;
  check_waiting();
  if (events_.reloaded) events_.reloaded();
}

void ServiceManager::Impl::unit_removed(sdbus::Message& message) {
  std::string unit;
  message >> unit;
  // Before it reads them again, PID 1 announces the removal of all units, those that go on running included.
  if (reloading_ || !unit.starts_with(job_units)) return;
  known_.erase(unit);
  if (watching_ && events_.removed) events_.removed(unit);
}

void ServiceManager::Impl::properties_changed(sdbus::Message& message) {
  // Other units' signals are most of them: decide before anything is unpacked.
  const auto path = message.getPath();
  if (!watching_ || !is_job_unit_path(path)) return;
  const auto unit = unit_of_path(path);
  if (!runs_processes(unit)) return;
  if (known_.size() >= known_units_bound && !known_.contains(unit)) known_.clear();
  Known& known = known_[unit];
  std::string interface;
  message >> interface;
  const auto read = read_properties(message, known.status);
  known.has_end = known.has_end || read.has_end;
  // systemd sends the interface of the type first and that of all units last, each with all its values: the second
  // completes a picture of one moment.
  if (interface == "org.freedesktop.systemd1.Unit") picture_complete(unit, known, read);
}

void ServiceManager::Impl::picture_complete(const std::string& unit, Known& known, PropertiesRead read) {
  if (read.has_state && std::exchange(known.has_end, false)) {
    known.status.unit = unit;
    known.status.loaded = true;
    known.status.unit_job = 0;
    // Queued, job gone, memory counter moved: most signals change nothing that is kept here.
    if (known.status == known.reported) return;
    known.reported = known.status;
    const UnitStatus status = known.status;  // the handler may change the cache
    if (events_.changed) events_.changed(status);
    return;
  }
  ask(unit, [this](const core::Expected<UnitStatus>& status) {
    if (status && watching_ && events_.changed) events_.changed(*status);
  });
}

void ServiceManager::Impl::plain_call(const char* method, const ManagerBus::Fill& fill, Done done) {
  bus_.call(method, fill, [done = std::move(done)](sdbus::MethodReply&, const sdbus::Error* error) {
    done(error == nullptr ? core::Expected<void>() : tl::unexpected(to_error(*error)));
  });
}

void ServiceManager::Impl::list(const std::vector<std::string>& patterns, ListDone done) {
  const auto fill = [&](sdbus::MethodCall& call) { call << std::vector<std::string>{} << patterns; };
  bus_.call("ListUnitsByPatterns", fill,
            [done = std::move(done)](sdbus::MethodReply& reply, const sdbus::Error* error) {
              if (error != nullptr) return done(tl::unexpected(to_error(*error)));
              std::vector<UnitStatus> units;
              reply.enterContainer("(ssssssouso)");
              while (reply.enterStruct("ssssssouso")) {
                auto unit = read_listed_unit(reply);
                reply.exitStruct();
                if (unit.loaded) units.push_back(std::move(unit));
              }
              reply.clearFlags();
              reply.exitContainer();
              done(std::move(units));
            });
}

// The path follows from the name, and an empty interface means all of them: one round trip, one moment.
void ServiceManager::Impl::ask(const std::string& unit, StatusDone done) {
  const auto fill = [](sdbus::MethodCall& call) { call << ""; };
  bus_.call_object(unit_path(unit), properties_interface, "GetAll", fill,
                   [unit, done = std::move(done)](sdbus::MethodReply& reply, const sdbus::Error* error) {
                     if (error != nullptr) return done(tl::unexpected(to_error(*error)));
                     UnitStatus status{.unit = unit};
                     read_properties(reply, status);
                     done(std::move(status));
                   });
}

ServiceManager::ServiceManager(sdbus::IConnection& connection, ManagerScope /*scope*/, UnitEvents events)
    : impl_(std::make_unique<Impl>(connection, std::move(events))) {}

ServiceManager::~ServiceManager() = default;

void ServiceManager::watch_units() { impl_->watch(); }
void ServiceManager::unwatch_units() { impl_->unwatch(); }
const std::string& ServiceManager::version() const { return impl_->version(); }

void ServiceManager::start(const UnitRequest& request, JobDone done) {
  if (const auto fits = check_fits_unit_file(request); !fits) return done(tl::unexpected(fits.error()));
  impl_->run_unit_job({.method = "StartTransientUnit",
                       .kind = UnitJobKind::start,
                       .unit = request.name,
                       .fill = [request](sdbus::MethodCall& call) { write_request(call, request); },
                       .done = std::move(done)});
}

void ServiceManager::stop(const std::string& unit, JobDone done) {
  impl_->run_unit_job({.method = "StopUnit",
                       .kind = UnitJobKind::stop,
                       .unit = unit,
                       .fill = [unit](sdbus::MethodCall& call) { call << unit << "replace"; },
                       .done = std::move(done)});
}

void ServiceManager::reset_failed(const std::string& unit, Done done) {
  impl_->bus().call(
      "ResetFailedUnit", [&](sdbus::MethodCall& call) { call << unit; },
      [done = std::move(done)](sdbus::MethodReply&, const sdbus::Error* error) {
        const bool gone = error == nullptr || error->getName() == no_such_unit;
        done(gone ? core::Expected<void>() : tl::unexpected(to_error(*error)));
      });
}

void ServiceManager::set_properties(const std::string& unit, const std::vector<UnitProperty>& properties, Done done) {
  if (const auto fits = check_fits_unit_file(properties); !fits) return done(tl::unexpected(fits.error()));
  const auto fill = [&](sdbus::MethodCall& call) {
    constexpr bool runtime = true;
    call << unit << runtime;
    write_properties(call, properties);
  };
  impl_->plain_call("SetUnitProperties", fill, std::move(done));
}

void ServiceManager::freeze(const std::string& unit, Done done) {
  impl_->plain_call("FreezeUnit", [&](sdbus::MethodCall& call) { call << unit; }, std::move(done));
}

void ServiceManager::thaw(const std::string& unit, Done done) {
  impl_->plain_call("ThawUnit", [&](sdbus::MethodCall& call) { call << unit; }, std::move(done));
}

void ServiceManager::kill(const std::string& unit, const std::string& who, int signal, Done done) {
  const auto fill = [&](sdbus::MethodCall& call) { call << unit << who << static_cast<std::int32_t>(signal); };
  impl_->plain_call("KillUnit", fill, std::move(done));
}

void ServiceManager::list_units(const std::vector<std::string>& patterns, ListDone done) {
  impl_->list(patterns, std::move(done));
}

void ServiceManager::get_status(const std::string& unit, StatusDone done) { impl_->ask(unit, std::move(done)); }

}  // namespace mljobd::systemd
