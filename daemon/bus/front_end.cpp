#include "bus/front_end.hpp"

#include <utility>

#include "kernel/own_memory.hpp"

namespace mljobd::bus {

FrontEnd::FrontEnd(systemd::EventLoop& loop, sdbus::IConnection& connection, store::Store& store, JobManager& manager,
                   JobRunner& runner, core::UserId administrator, std::string mode,
                   std::function<core::Expected<void>()> reload)
    : connection_(connection),
      manager_(manager),
      runner_(runner),
      callers_(administrator),
      trim_(loop.make_deferred([] { kernel::give_memory_back(); })),
      manager_object_(
          connection, store, manager, runner, callers_, std::move(mode), std::move(reload),
          [this] { trim_->schedule(); }, [this](core::JobId id) { show_on_demand(id); }),
      bury_(loop.make_deferred([this] { forgotten_.clear(); })) {}

bool FrontEnd::show(core::JobId id) {
  auto& object = objects_[id];
  if (object) return false;
  object = std::make_unique<JobObject>(connection_, id, manager_, runner_, callers_);
  return true;
}

void FrontEnd::hide(core::JobId id) {
  const auto found = objects_.find(id);
  if (found == objects_.end()) return;
  found->second->emitInterfacesRemovedSignal();
  forgotten_.push_back(std::move(found->second));
  objects_.erase(found);
  bury_->schedule();
}

void FrontEnd::show_all() {
  for (const auto& [id, job] : manager_.jobs()) {
    if (!core::is_waiting(job.state) || objects_.size() < most_unasked) show(id);
  }
}

void FrontEnd::show_on_demand(core::JobId id) {
  if (!show(id)) return;
  objects_.at(id)->emitInterfacesAddedSignal();
  on_demand_.push_back(id);
  if (on_demand_.size() <= most_on_demand) return;
  // One that runs by now has its object for that.
  const auto* job = manager_.find(on_demand_.front());
  if (job != nullptr && core::is_waiting(job->state)) hide(on_demand_.front());
  on_demand_.pop_front();
}

void FrontEnd::job_added(const core::Job& job) {
  const bool wanted = objects_.size() < most_unasked || !core::is_waiting(job.state);
  if (wanted && show(job.id)) objects_.at(job.id)->emitInterfacesAddedSignal();
  manager_object_.emitJobAdded(job.id, job_path(job.id));
}

void FrontEnd::job_recalled(const core::Job& job) {
  if (show(job.id)) objects_.at(job.id)->emitInterfacesAddedSignal();
}

void FrontEnd::job_changed(const core::Job& job, std::size_t steps) {
  if (!core::is_waiting(job.state) && show(job.id)) {
    objects_.at(job.id)->emitInterfacesAddedSignal();
  } else if (const auto found = objects_.find(job.id); found != objects_.end()) {
    found->second->announce_state(steps);
  }
}

void FrontEnd::state_changed(const core::Job& job, const StateChange& change) {
  manager_object_.emitJobStateChanged(job.id, job_path(job.id), change.old_state, change.new_state, change.reason);
}

void FrontEnd::details_changed(const core::Job& job) {
  if (const auto found = objects_.find(job.id); found != objects_.end()) found->second->announce_details();
}

void FrontEnd::job_forgotten(core::JobId id) {
  hide(id);
  manager_object_.emitJobRemoved(id, job_path(id));
}

void FrontEnd::counts_changed() { manager_object_.announce_counts(); }

void FrontEnd::service_state_changed() { manager_object_.announce_state(); }

void FrontEnd::decided(const core::Decision& decision) { manager_object_.announce_decision(decision); }

void FrontEnd::pressure_changed(std::uint32_t level, const core::ValueMap& details) {
  manager_object_.announce_pressure(level, details);
}

void FrontEnd::forecast_changed(const core::Job& job) {
  if (const auto found = objects_.find(job.id); found != objects_.end()) found->second->announce_forecast();
}

void FrontEnd::growth_seen(const core::Job& job, const GrowthEvent& event) {
  manager_object_.emitForecastChanged(job.id, job_path(job.id), std::string(core::to_word(event.news)),
                                      to_variants(core::to_values(event.forecast)));
}

}  // namespace mljobd::bus
