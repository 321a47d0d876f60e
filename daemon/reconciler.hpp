// At start, and never by assumption: asks PID 1 which units of jobs exist and brings every unfinished job to its true
// state, so that a job that ended, went on or vanished while no daemon looked is told as just that.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "job_manager.hpp"
#include "job_runner.hpp"
#include "store/store.hpp"
#include "systemd/service_manager.hpp"

namespace mljobd {

class Reconciler {
 public:
  using Done = std::function<void(core::Expected<void>)>;

  Reconciler(systemd::ServiceManager& service_manager, JobManager& manager, JobRunner& runner, store::Store& store,
             std::string boot_id);

  // Done once every unfinished job has been compared with its unit.
  void run(Done done);

 private:
  using Units = std::map<std::string, systemd::UnitStatus>;

  void compare(const Units& units);
  void compare_job(const core::Job& job, const Units& units);
  void clear_left_over(const Units& units);

  systemd::ServiceManager& service_manager_;
  JobManager& manager_;
  JobRunner& runner_;
  store::Store& store_;
  std::string boot_id_;
};

}  // namespace mljobd
