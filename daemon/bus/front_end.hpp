// Shows the jobs of the manager on the bus, and tells of what happens to them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "bus/calls.hpp"
#include "bus/job_object.hpp"
#include "bus/manager_object.hpp"
#include "job_manager.hpp"
#include "systemd/event_loop.hpp"

namespace mljobd::bus {

class FrontEnd final : public JobObserver {
 public:
  FrontEnd(systemd::EventLoop& loop, sdbus::IConnection& connection, store::Store& store, JobManager& manager,
           JobRunner& runner, core::UserId administrator, std::string mode,
           std::function<core::Expected<void>()> reload);

  // Exports the jobs that the manager holds; before the bus name is requested, so that nobody sees half of them.
  void show_all();
  // Exports a job that somebody asks for.
  void show_on_demand(core::JobId id);

  void job_added(const core::Job& job) override;
  void job_recalled(const core::Job& job) override;
  void job_changed(const core::Job& job, std::size_t steps) override;
  void state_changed(const core::Job& job, const StateChange& change) override;
  void details_changed(const core::Job& job) override;
  void job_forgotten(core::JobId id) override;
  void counts_changed() override;
  void service_state_changed() override;
  void decided(const core::Decision& decision) override;
  void pressure_changed(std::uint32_t level, const core::ValueMap& details) override;
  void forecast_changed(const core::Job& job) override;
  void growth_seen(const core::Job& job, const GrowthEvent& event) override;

 private:
  // An object takes 15 KiB: of a long queue only so many jobs have one unasked, and so many more when asked for.
  static constexpr std::size_t most_unasked = 1000;
  static constexpr std::size_t most_on_demand = 1000;

  // True when it is new.
  bool show(core::JobId id);
  void hide(core::JobId id);

  sdbus::IConnection& connection_;
  JobManager& manager_;
  JobRunner& runner_;
  CallerDirectory callers_;
  std::unique_ptr<systemd::EventLoop::Deferred> trim_;
  ManagerObject manager_object_;
  std::map<core::JobId, std::unique_ptr<JobObject>> objects_;
  std::deque<core::JobId> on_demand_;  // the longest ago first
  // An object may be forgotten inside one of its own calls; it must outlive that.
  std::vector<std::unique_ptr<JobObject>> forgotten_;
  std::unique_ptr<systemd::EventLoop::Deferred> bury_;
};

}  // namespace mljobd::bus
