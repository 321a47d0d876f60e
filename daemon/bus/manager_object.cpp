#include "bus/manager_object.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "bus/job_object.hpp"
#include "bus/options.hpp"
#include "core/job_view.hpp"
#include "version.hpp"

namespace mljobd::bus {
namespace {

using IdAndPath = sdbus::Struct<std::uint32_t, sdbus::ObjectPath>;

constexpr std::size_t most_ids = 10000;
// An answer of so many rows has taken megabytes, which the allocator would keep.
constexpr std::size_t large_answer = 200;
constexpr std::uint32_t most_rows = 10000;  // more would hold the loop up for seconds
constexpr std::size_t longest_path = 4096;
constexpr std::uint32_t default_jobs = 1000;
constexpr std::uint32_t default_events = 100;

std::uint64_t microseconds(core::RealTime time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); }

std::optional<core::RealTime> moment(const std::optional<std::uint64_t>& microseconds_since_epoch) {
  if (!microseconds_since_epoch) return std::nullopt;
  constexpr std::uint64_t latest = std::numeric_limits<std::int64_t>::max();
  return core::RealTime(core::Microseconds(static_cast<std::int64_t>(std::min(*microseconds_since_epoch, latest))));
}

store::JobFilter job_filter(const Options& options) {
  store::JobFilter filter;
  filter.ids = options.numbers("ids");
  filter.states = options.texts("state");
  if (const auto owner = options.large_number("owner")) filter.owner = static_cast<core::UserId>(*owner);
  filter.class_name = options.text("class", "");
  filter.name = options.text("name", "");
  filter.since = moment(options.large_number("since"));
  filter.limit = std::min(options.number("limit", default_jobs), most_rows);
  if (filter.ids.size() > most_ids || filter.states.size() > 32) {
    throw to_bus_error({core::ErrorCode::limit_exceeded, "a filter takes at most 10000 ids and 32 states"});
  }
  return filter;
}

core::ValueMap class_row(const core::JobClass& job_class, const std::string& default_class, const Counts& counts) {
  return {{"name", job_class.name},
          {"cpu_weight", job_class.cpu_weight},
          {"io_weight", job_class.io_weight},
          {"rank", job_class.rank},
          {"max_running", job_class.max_running},
          {"oom_score_adjust", job_class.oom_score_adjust},
          {"default_memory", job_class.default_memory.value_or(0)},
          {"maximum_memory", job_class.maximum_memory.value_or(0)},
          {"default", job_class.name == default_class},
          {"queued", counts.queued},
          {"running", counts.running}};
}

core::ValueMap event_row(const store::EventRecord& event) {
  core::ValueMap row{{"time", microseconds(event.time)}, {"job", event.job},       {"kind", event.kind},
                     {"old", event.old_state},           {"new", event.new_state}, {"reason", event.reason},
                     {"message", event.message}};
  if (!event.details.empty()) row.emplace("details", event.details);
  return row;
}

std::vector<core::ValueMap> values_of(const std::vector<VariantMap>& specs) {
  std::vector<core::ValueMap> values;
  values.reserve(specs.size());
  for (const auto& spec : specs) values.push_back(value_or_throw(from_variants(spec)));
  return values;
}

JobManager::Reply job_reply(sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result) {
  return [reply = pending(std::move(result))](const core::Expected<core::JobId>& id) {
    if (!id) return reply->fail(id.error());
    reply->succeed(*id, *id == 0 ? sdbus::ObjectPath("/") : job_path(*id));
  };
}

}  // namespace

ManagerObject::ManagerObject(sdbus::IConnection& connection, store::Store& store, JobManager& manager,
                             JobRunner& runner, CallerDirectory& callers, std::string mode,
                             std::function<core::Expected<void>()> reload, std::function<void()> give_memory_back,
                             std::function<void(core::JobId)> show)
    : AdaptorInterfaces(connection, manager_path),
      store_(store),
      manager_(manager),
      runner_(runner),
      callers_(callers),
      mode_(std::move(mode)),
      reload_(std::move(reload)),
      give_memory_back_(std::move(give_memory_back)),
      show_(std::move(show)) {
  registerAdaptor();
}

ManagerObject::~ManagerObject() { unregisterAdaptor(); }

Caller ManagerObject::caller() { return callers_.caller(getObject()); }

void ManagerObject::announce_counts() {
  getObject().emitPropertiesChangedSignal(org::mljobd1::Manager_adaptor::INTERFACE_NAME,
                                          {"Queued", "Running", "Finished"});
}

void ManagerObject::announce_state() {
  getObject().emitPropertiesChangedSignal(org::mljobd1::Manager_adaptor::INTERFACE_NAME, {"State", "Problems"});
}

void ManagerObject::announce_pressure(std::uint32_t level, const core::ValueMap& details) {
  getObject().emitPropertiesChangedSignal(org::mljobd1::Manager_adaptor::INTERFACE_NAME, {"PressureLevel"});
  emitPressureChanged(level, to_variants(details));
}

void ManagerObject::announce_decision(const core::Decision& decision) {
  emitDecision(to_variants(core::to_values(decision)));
}

void ManagerObject::Submit(sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result, VariantMap spec,
                           VariantMap options) {
  guarded([&] {
    const Options parsed(options, {"dry_run"});
    const bool dry_run = parsed.flag("dry_run");
    const auto asking = caller();
    const auto values = value_or_throw(from_variants(spec));
    manager_.submit(asking, values, dry_run, job_reply(std::move(result)));
  });
}

void ManagerObject::SubmitPipeline(sdbus::Result<std::vector<IdAndPath>>&& result, std::vector<VariantMap> specs,
                                   VariantMap options) {
  guarded([&] {
    const Options parsed(options, {"dry_run"});
    const bool dry_run = parsed.flag("dry_run");
    const auto asking = caller();
    manager_.submit_pipeline(asking, values_of(specs), dry_run,
                             [reply = pending(std::move(result))](const core::Expected<std::vector<core::JobId>>& ids) {
                               if (!ids) return reply->fail(ids.error());
                               std::vector<IdAndPath> jobs;
                               jobs.reserve(ids->size());
                               for (const auto id : *ids)
                                 jobs.emplace_back(id, id == 0 ? sdbus::ObjectPath("/") : job_path(id));
                               reply->succeed(jobs);
                             });
  });
}

ManagerObject::Rows ManagerObject::Preview(const std::vector<VariantMap>& specs, const VariantMap& options) {
  return guarded([&] {
    refuse_options(options);
    const auto asking = caller();
    Rows rows;
    for (const auto& job : value_or_throw(manager_.preview(asking, values_of(specs)))) {
      core::ValueMap row{{"id", job.id},
                         {"name", job.name},
                         {"start", job.start ? microseconds(*job.start) : std::uint64_t{0}},
                         {"reason", job.reason}};
      if (job.array_index) row.emplace("array_index", *job.array_index);
      rows.push_back(to_variants(row));
    }
    return rows;
  });
}

void ManagerObject::start_processes(core::JobKind kind, sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result,
                                    std::vector<sdbus::UnixFd> pidfds, const VariantMap& spec,
                                    const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    const auto asking = caller();
    auto values = value_or_throw(from_variants(spec));
    std::vector<kernel::UniqueFd> owned;
    owned.reserve(pidfds.size());
    for (auto& pidfd : pidfds) owned.emplace_back(pidfd.release());
    manager_.start_foreground(asking, kind, std::move(owned), std::move(values), job_reply(std::move(result)));
  });
}

void ManagerObject::StartForeground(sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result, sdbus::UnixFd pidfd,
                                    VariantMap spec, VariantMap options) {
  std::vector<sdbus::UnixFd> pidfds;
  pidfds.push_back(std::move(pidfd));
  start_processes(core::JobKind::foreground, std::move(result), std::move(pidfds), spec, options);
}

void ManagerObject::Adopt(sdbus::Result<std::uint32_t, sdbus::ObjectPath>&& result, std::vector<sdbus::UnixFd> pidfds,
                          VariantMap spec, VariantMap options) {
  start_processes(core::JobKind::adopted, std::move(result), std::move(pidfds), spec, options);
}

sdbus::ObjectPath ManagerObject::GetJob(const std::uint32_t& id) {
  return guarded([&] {
    const core::JobId known = value_or_throw(manager_.recall(id))->id;
    show_(known);
    return job_path(known);
  });
}

void ManagerObject::ListJobs(sdbus::Result<Rows>&& /*result*/, VariantMap filter) {
  guarded([&] {
    const Options options(filter, {"ids", "state", "owner", "class", "name", "since", "limit", "fields"});
    const auto fields = value_or_throw(core::row_fields(options.texts("fields")));
    // They are looked up in files or made anew for every job.
    const bool with_usage = core::contains(fields, "usage");
    const bool with_warnings = core::contains(fields, "warnings");
    const bool with_forecast = core::contains(fields, "forecast");
    const auto listed = value_or_throw(manager_.list(job_filter(options)));
    auto reply = reply_to_call(getObject());
    reply.openContainer("a{sv}");
    for (const auto* job : listed.jobs) {
      const bool measured = with_usage && core::has_units(job->state);
      write(reply, core::job_row({.job = *job,
                                  .now = manager_.now(),
                                  .usage = measured ? runner_.usage(*job) : job->attempt.usage,
                                  .warnings = with_warnings ? runner_.warnings(*job) : std::vector<std::string>{},
                                  .forecast = with_forecast ? manager_.forecast(*job) : core::ValueMap{}},
                                 fields));
    }
    reply.closeContainer();
    reply.send();
    if (listed.jobs.size() > large_answer) give_memory_back_();
  });
}

ManagerObject::Rows ManagerObject::ListEvents(const VariantMap& filter) {
  return guarded([&] {
    const Options options(filter, {"job", "since", "limit"});
    const store::EventFilter event_filter{.job = options.number("job", 0),
                                          .since = moment(options.large_number("since")),
                                          .limit = std::min(options.number("limit", default_events), most_rows)};
    Rows rows;
    for (const auto& event : value_or_throw(store_.list_events(event_filter))) {
      rows.push_back(to_variants(event_row(event)));
    }
    return rows;
  });
}

ManagerObject::Rows ManagerObject::ListClasses() {
  return guarded([&] {
    auto classes = manager_.settings().classes;
    std::sort(classes.begin(), classes.end(), [](const core::JobClass& a, const core::JobClass& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.name < b.name;
    });
    Rows rows;
    auto counts = manager_.counts_by_class();
    for (const auto& job_class : classes) {
      rows.push_back(to_variants(class_row(job_class, manager_.settings().default_class, counts[job_class.name])));
    }
    return rows;
  });
}

VariantMap ManagerObject::GetResources() {
  return guarded([&] {
    return to_variants(core::resources_view(manager_.topology(), manager_.core_allocations(), manager_.memory()));
  });
}

VariantMap ManagerObject::Advise(const VariantMap& request) {
  return guarded([&] {
    const Options options(request, {"jobs", "job", "path"});
    if (request.contains("job")) {
      if (request.size() > 1) {
        throw to_bus_error({core::ErrorCode::invalid_spec,
                            "\"job\" asks about one job and takes neither \"jobs\" nor \"path\" beside it"});
      }
      return to_variants(core::advice_view(value_or_throw(manager_.advise(caller(), options.number("job", 0)))));
    }
    const auto path = options.text("path", "/");
    if (path.size() > longest_path || !path.starts_with('/')) {
      throw to_bus_error({core::ErrorCode::invalid_spec, "\"path\" takes an absolute path of at most 4096 bytes"});
    }
    return to_variants(core::advice_view(value_or_throw(manager_.advise(options.number("jobs", 1), path))));
  });
}

ManagerObject::Rows ManagerObject::each(const std::vector<std::uint32_t>& ids, const VariantMap& options,
                                        OneJob request) {
  return guarded([&] {
    refuse_options(options);
    if (ids.size() > most_ids) {
      throw to_bus_error({core::ErrorCode::limit_exceeded, "at most 10000 jobs in one call"});
    }
    const auto asking = caller();
    Rows rows;
    for (const auto id : ids) {
      const auto outcome = std::invoke(request, manager_, asking, id);
      rows.push_back({{"id", sdbus::Variant(id)},
                      {"error", sdbus::Variant(outcome ? std::string() : error_name(outcome.error().code))},
                      {"message", sdbus::Variant(outcome ? std::string() : outcome.error().message)}});
    }
    if (rows.size() > large_answer) give_memory_back_();
    return rows;
  });
}

ManagerObject::Rows ManagerObject::Cancel(const std::vector<std::uint32_t>& ids, const VariantMap& options) {
  return each(ids, options, &JobManager::cancel);
}

ManagerObject::Rows ManagerObject::Hold(const std::vector<std::uint32_t>& ids, const VariantMap& options) {
  return each(ids, options, &JobManager::hold);
}

ManagerObject::Rows ManagerObject::Release(const std::vector<std::uint32_t>& ids, const VariantMap& options) {
  return each(ids, options, &JobManager::release);
}

ManagerObject::Rows ManagerObject::Requeue(const std::vector<std::uint32_t>& ids, const VariantMap& options) {
  return each(ids, options, &JobManager::requeue);
}

void ManagerObject::Drain(const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    value_or_throw(manager_.set_draining(caller(), true));
  });
}

void ManagerObject::Resume(const VariantMap& options) {
  guarded([&] {
    refuse_options(options);
    value_or_throw(manager_.set_draining(caller(), false));
  });
}

void ManagerObject::Reload() {
  guarded([&] {
    if (!caller().privileged) {
      throw to_bus_error(
          {core::ErrorCode::not_authorized, "only root may reload the configuration; type `sudo jobctl reload`"});
    }
    value_or_throw(reload_());
  });
}

std::string ManagerObject::Version() { return version; }

std::string ManagerObject::Mode() { return mode_; }

std::string ManagerObject::State() {
  return guarded([&] {
    if (!manager_.problems().empty()) return std::string("degraded");
    return std::string(manager_.draining() ? "draining" : "running");
  });
}

std::vector<std::string> ManagerObject::Problems() {
  return guarded([&] { return manager_.problems(); });
}

std::uint32_t ManagerObject::Queued() {
  return guarded([&] { return manager_.counts().queued; });
}

std::uint32_t ManagerObject::Running() {
  return guarded([&] { return manager_.counts().running; });
}

std::uint64_t ManagerObject::Finished() {
  return guarded([&] { return manager_.counts().finished; });
}

std::uint32_t ManagerObject::PressureLevel() {
  return guarded([&] { return manager_.pressure_level(); });
}

VariantMap ManagerObject::Memory() {
  return guarded([&] {
    const auto account = manager_.memory();
    const auto free = account.jobs_max > account.reserved ? account.jobs_max - account.reserved : 0;
    return to_variants({{"total_memory", account.total},
                        {"jobs_memory_max", account.jobs_max},
                        {"reserved_memory", account.reserved},
                        {"free_memory", free}});
  });
}

}  // namespace mljobd::bus
