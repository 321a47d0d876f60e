#include "bus/front_end.hpp"

#include <utility>

#include <malloc.h>

namespace mljobd::bus {

FrontEnd::FrontEnd(systemd::EventLoop& loop, sdbus::IConnection& connection, store::Store& store, JobManager& manager,
                   JobRunner& runner, core::UserId administrator, std::string mode,
                   std::function<core::Expected<void>()> reload)
    : connection_(connection),
      manager_(manager),
      runner_(runner),
      callers_(administrator),
      trim_(loop.make_deferred([] { malloc_trim(0); })),
      manager_object_(connection, store, manager, runner, callers_, std::move(mode), std::move(reload),
                      [this] { trim_->schedule(); }),
      bury_(loop.make_deferred([this] { forgotten_.clear(); })) {}

JobObject& FrontEnd::show(core::JobId id) {
  auto& object = objects_[id];
  if (!object) object = std::make_unique<JobObject>(connection_, id, manager_, runner_, callers_);
  return *object;
}

void FrontEnd::show_all() {
  for (const auto& [id, job] : manager_.jobs()) show(id);
}

void FrontEnd::job_added(const core::Job& job) {
  show(job.id).emitInterfacesAddedSignal();
  manager_object_.emitJobAdded(job.id, job_path(job.id));
}

void FrontEnd::job_recalled(const core::Job& job) { show(job.id).emitInterfacesAddedSignal(); }

void FrontEnd::job_changed(const core::Job& job, const StateChange& change) {
  if (!change.old_state.empty()) show(job.id).announce_state();
  manager_object_.emitJobStateChanged(job.id, job_path(job.id), change.old_state, change.new_state, change.reason);
}

void FrontEnd::details_changed(const core::Job& job) { show(job.id).announce_details(); }

void FrontEnd::job_forgotten(core::JobId id) {
  const auto found = objects_.find(id);
  if (found == objects_.end()) return;
  found->second->emitInterfacesRemovedSignal();
  manager_object_.emitJobRemoved(id, job_path(id));
  forgotten_.push_back(std::move(found->second));
  objects_.erase(found);
  bury_->schedule();
}

void FrontEnd::counts_changed() { manager_object_.announce_counts(); }

void FrontEnd::service_state_changed() { manager_object_.announce_state(); }

}  // namespace mljobd::bus
