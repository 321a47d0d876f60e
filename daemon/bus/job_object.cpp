#include "bus/job_object.hpp"

#include "bus/options.hpp"
#include "core/job_view.hpp"
#include "core/limit_check.hpp"
#include "core/unit_names.hpp"

namespace mljobd::bus {
namespace {

std::uint64_t microseconds(const std::optional<core::RealTime>& time) {
  return time ? static_cast<std::uint64_t>(time->time_since_epoch().count()) : 0;
}

// What changes on the way into a state, and on the way through several.
const std::vector<std::string>& properties_of(const core::JobState& state, std::size_t steps) {
  static const std::vector<std::string> all{"State",     "Reason",   "Attempt",  "Unit",       "Slice",
                                            "StartTime", "EndTime",  "ExitCode", "ExitSignal", "Result",
                                            "Cause",     "Warnings", "Forecast"};
  static const std::vector<std::string> starting{"State", "Reason", "Attempt", "Unit", "Slice"};
  static const std::vector<std::string> running{"State", "Reason", "StartTime", "Warnings", "Forecast"};
  static const std::vector<std::string> in_between{"State", "Reason", "Forecast"};
  static const std::vector<std::string> finished{"State",      "Reason", "StartTime", "EndTime", "ExitCode",
                                                 "ExitSignal", "Result", "Cause",     "Forecast"};
  if (steps > 1) return all;
  if (std::holds_alternative<core::Starting>(state)) return starting;
  if (std::holds_alternative<core::Running>(state)) return running;
  if (core::has_units(state)) return in_between;
  return core::is_finished(state) ? finished : all;
}

}  // namespace

sdbus::ObjectPath job_path(core::JobId id) { return sdbus::ObjectPath("/org/mljobd1/job/" + std::to_string(id)); }

JobObject::JobObject(sdbus::IConnection& connection, core::JobId id, JobManager& manager, JobRunner& runner,
                     CallerDirectory& callers)
    : AdaptorInterfaces(connection, job_path(id)), id_(id), manager_(manager), runner_(runner), callers_(callers) {
  registerAdaptor();
}

JobObject::~JobObject() { unregisterAdaptor(); }

const core::Job& JobObject::job() const {
  const auto* job = manager_.find(id_);
  if (job == nullptr) {
    throw to_bus_error({core::ErrorCode::no_such_job, "job " + std::to_string(id_) + " has just been forgotten"});
  }
  return *job;
}

Caller JobObject::caller() { return callers_.caller(getObject()); }

void JobObject::emit(const std::vector<std::string>& properties) {
  getObject().emitPropertiesChangedSignal(org::mljobd1::Job_adaptor::INTERFACE_NAME, properties);
}

void JobObject::announce_state(std::size_t steps) { emit(properties_of(job().state, steps)); }

void JobObject::announce_details() { emit({"Reason", "Limits", "Warnings", "Progress", "ProgressMessage"}); }

void JobObject::announce_forecast() { emit({"Forecast"}); }

void JobObject::Cancel(const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    value_or_throw(manager_.cancel(caller(), id_));
  });
}

void JobObject::Hold(const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    value_or_throw(manager_.hold(caller(), id_));
  });
}

void JobObject::Release(const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    value_or_throw(manager_.release(caller(), id_));
  });
}

void JobObject::Requeue(const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    value_or_throw(manager_.requeue(caller(), id_));
  });
}

void JobObject::Signal(sdbus::Result<>&& result, std::int32_t signal, VariantMap options) {
  guarded([&] {
    const Options parsed(options, {"who"});
    const auto who = parsed.text("who", "all");
    if (who != "all" && who != "main") {
      throw to_bus_error({core::ErrorCode::invalid_spec, R"(option "who" takes "all" or "main")"});
    }
    const auto asking = caller();
    manager_.signal(asking, id_, who, signal, answer_to(pending(std::move(result))));
  });
}

void JobObject::Freeze(sdbus::Result<>&& result, VariantMap options) {
  guarded([&] {
    refuse_options(options);
    const auto asking = caller();
    manager_.freeze(asking, id_, answer_to(pending(std::move(result))));
  });
}

void JobObject::Thaw(sdbus::Result<>&& result, VariantMap options) {
  guarded([&] {
    refuse_options(options);
    const auto asking = caller();
    manager_.thaw(asking, id_, answer_to(pending(std::move(result))));
  });
}

void JobObject::Park(sdbus::Result<>&& result, VariantMap options) {
  guarded([&] {
    refuse_options(options);
    const auto asking = caller();
    manager_.park(asking, id_, answer_to(pending(std::move(result))));
  });
}

void JobObject::Unpark(sdbus::Result<>&& result, VariantMap options) {
  guarded([&] {
    refuse_options(options);
    const auto asking = caller();
    manager_.unpark(asking, id_, answer_to(pending(std::move(result))));
  });
}

void JobObject::SetLimits(sdbus::Result<>&& result, VariantMap limits, VariantMap options) {
  guarded([&] {
    refuse_options(options);
    const auto asking = caller();
    const auto changes = value_or_throw(from_variants(limits));
    manager_.set_limits(asking, id_, changes, answer_to(pending(std::move(result))));
  });
}

VariantMap JobObject::GetSpec() {
  return guarded([&] { return to_variants(value_or_throw(manager_.specification(caller(), id_))); });
}

sdbus::UnixFd JobObject::OpenLog(const VariantMap& options) {
  return guarded([&] {
    const Options parsed(options, {"attempt"});
    const auto log = value_or_throw(manager_.open_log(caller(), id_, parsed.number("attempt", 0)));
    return sdbus::UnixFd(log.get());
  });
}

std::map<std::string, std::vector<std::uint64_t>> JobObject::GetSamples(const VariantMap& options) {
  return guarded([&] {
    refuse_options(options);
    return core::to_columns(value_or_throw(manager_.samples(caller(), id_)));
  });
}

void JobObject::ReportProgress(const double& progress, const std::string& message, const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    value_or_throw(manager_.report_progress(caller(), id_, {.fraction = progress, .message = message}));
  });
}

void JobObject::ReportExit(const std::int32_t& exit_code, const std::uint32_t& exit_signal, const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    const bool killed = exit_signal != 0;
    if (exit_signal > 64 || (!killed && (exit_code < 0 || exit_code > 255))) {
      throw to_bus_error({core::ErrorCode::invalid_spec,
                          "an exit is a code from 0 to 255, or a signal from 1 to 64 with the code -1"});
    }
    using Kind = core::ProcessExit::Kind;
    const core::ProcessExit exit{.kind = killed ? Kind::killed : Kind::exited,
                                 .status = killed ? static_cast<std::int32_t>(exit_signal) : exit_code};
    value_or_throw(manager_.report_exit(caller(), id_, exit));
  });
}

std::uint32_t JobObject::Id() { return id_; }

std::string JobObject::Name() {
  return guarded([&] { return job().spec.name; });
}

std::string JobObject::Class() {
  return guarded([&] { return job().spec.class_name; });
}

std::string JobObject::Kind() {
  return guarded([&] { return std::string(core::to_word(job().spec.kind)); });
}

std::uint32_t JobObject::Owner() {
  return guarded([&] { return job().owner; });
}

std::uint64_t JobObject::SubmitTime() {
  return guarded([&] { return microseconds(job().submitted); });
}

std::string JobObject::State() {
  return guarded([&] { return std::string(core::to_word(job().state)); });
}

std::string JobObject::Reason() {
  return guarded([&] { return core::is_finished(job().state) ? std::string() : core::reason_text(job().state); });
}

std::uint32_t JobObject::Attempt() {
  return guarded([&] { return job().attempt.number; });
}

std::string JobObject::Unit() {
  return guarded([&] { return job().attempt.number == 0 ? std::string() : core::job_unit(job()); });
}

std::string JobObject::Slice() {
  return guarded([&] { return job().attempt.number == 0 ? std::string() : core::job_slice(job()); });
}

std::uint64_t JobObject::StartTime() {
  return guarded([&] { return microseconds(job().attempt.started); });
}

std::uint64_t JobObject::EndTime() {
  return guarded([&] { return microseconds(job().attempt.ended); });
}

std::int32_t JobObject::ExitCode() {
  return guarded([&] { return job().attempt.exit_code; });
}

std::uint32_t JobObject::ExitSignal() {
  return guarded([&] { return job().attempt.exit_signal; });
}

std::string JobObject::Result() {
  return guarded([&] {
    const auto* finished = std::get_if<core::Finished>(&job().state);
    return finished == nullptr ? std::string() : std::string(core::to_word(finished->result));
  });
}

VariantMap JobObject::Cause() {
  return guarded([&] {
    const auto* finished = std::get_if<core::Finished>(&job().state);
    return finished == nullptr ? VariantMap{} : to_variants(core::cause_view(finished->cause));
  });
}

VariantMap JobObject::Limits() {
  return guarded([&] { return to_variants(core::limits_view(job().spec)); });
}

VariantMap JobObject::Effective() {
  return guarded([&] { return to_variants(core::effective_view(runner_.effective_limits(job()))); });
}

std::vector<std::string> JobObject::Warnings() {
  return guarded([&] { return runner_.warnings(job()); });
}

VariantMap JobObject::Usage() {
  return guarded([&] { return to_variants(core::usage_view(runner_.usage(job()))); });
}

VariantMap JobObject::Forecast() {
  return guarded([&] { return to_variants(manager_.forecast(job())); });
}

double JobObject::Progress() {
  return guarded([&] { return manager_.progress(id_).fraction; });
}

std::string JobObject::ProgressMessage() {
  return guarded([&] { return manager_.progress(id_).message; });
}

}  // namespace mljobd::bus
