#include "reconciler.hpp"

#include <algorithm>
#include <utility>

#include "core/unit_names.hpp"
#include "log.hpp"

namespace mljobd {
namespace {

using systemd::ActiveState;

// Which job a unit of ours belongs to, be it the slice or what runs in it.
std::optional<core::JobId> job_of(const std::string& unit) {
  if (const auto parsed = core::parse_job_unit(unit)) return parsed->id;
  if (const auto parsed = core::parse_job_slice(unit)) return parsed->id;
  return std::nullopt;
}

}  // namespace

Reconciler::Reconciler(systemd::ServiceManager& service_manager, JobManager& manager, JobRunner& runner,
                       store::Store& store, std::string boot_id)
    : service_manager_(service_manager),
      manager_(manager),
      runner_(runner),
      store_(store),
      boot_id_(std::move(boot_id)) {}

void Reconciler::run(Done done) {
  service_manager_.list_units(
      {"mljob-*"}, [this, done = std::move(done)](const core::Expected<std::vector<systemd::UnitStatus>>& units) {
        if (!units) return done(tl::unexpected(units.error()));
        Units by_name;
        for (const auto& unit : *units) by_name.emplace(unit.unit, unit);
        compare(by_name);
        // PID 1 answers in order: with this answer all the questions that compare() asked have theirs.
        service_manager_.get_status(std::string(core::root_slice),
                                    [done](const core::Expected<systemd::UnitStatus>&) { done({}); });
      });
}

void Reconciler::compare(const Units& units) {
  std::vector<core::JobId> with_units;
  for (const auto& [id, job] : manager_.jobs()) {
    if (core::has_units(job.state)) with_units.push_back(id);
  }
  for (const auto id : with_units) {
    if (const auto* job = manager_.find(id)) compare_job(*job, units);
  }
  clear_left_over(units);
}

void Reconciler::compare_job(const core::Job& job, const Units& units) {
  if (job.attempt.boot_id != boot_id_) {
    const core::Evidence evidence{.usage = job.attempt.usage, .rebooted = true};
    return manager_.handle(job.id,
                           core::Ended{.verdict = core::determine_cause(job, evidence), .usage = job.attempt.usage});
  }
  const bool starting = std::holds_alternative<core::Starting>(job.state);
  const auto unit = units.find(core::job_unit(job));
  if (unit != units.end()) {
    runner_.resume(job, !starting || unit->second.active != ActiveState::inactive);
    // The stop was written down; whether PID 1 was told is not known, and telling it twice does no harm.
    const auto* stopping = std::get_if<core::Stopping>(&job.state);
    if (stopping != nullptr && stopping->saves_until) return;  // its grace goes on, and is bounded as it was
    if (stopping != nullptr && stopping->reason == core::StopReason::pressure) {
      runner_.kill_now(job);
    } else if (stopping != nullptr) {
      runner_.thaw_then_stop(job);
    }
    return;
  }
  // The slice comes into being with the unit: without either, the call never reached PID 1.
  if (starting && !units.contains(core::job_slice(job))) {
    if (job.spec.kind == core::JobKind::batch) return manager_.handle(job.id, core::StartPostponed{});
    const core::Error error{core::ErrorCode::service_manager, "the daemon restarted before the start was done"};
    return manager_.handle(job.id, core::StartRefused{.verdict = start_refused(job, error)});
  }
  runner_.resume(job, true);
}

void Reconciler::clear_left_over(const Units& units) {
  for (const auto& [name, status] : units) {
    const auto id = job_of(name);
    if (!id || runner_.holds_units(*id)) continue;
    const auto stored = store_.load(*id);
    if (!stored || !*stored) {
      manager_.reserve_id(*id);
      manager_.set_problem("unit " + name,
                           name + " belongs to no job that is on record; it is left alone: see `systemctl status " +
                               name + "`, and `systemctl stop " + name + "` ends it");
      continue;
    }
    log::info("clearing " + name + " away, which a finished job left");
    service_manager_.stop(name, [this, name](const core::Expected<std::string>&) {
      service_manager_.reset_failed(name, [name](const core::Expected<void>& forgotten) {
        if (!forgotten) log::warning(name + " is left to the next start of mljobd: " + forgotten.error().message);
      });
    });
  }
}

}  // namespace mljobd
