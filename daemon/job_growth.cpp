// The manager's part that has to do with growing memory: what the watch over it says is told.
#include <utility>

#include "core/forecast.hpp"
#include "job_manager.hpp"
#include "pressure_guard.hpp"

namespace mljobd {

core::ValueMap JobManager::forecast(const core::Job& job) const {
  const auto known = guard_->forecast(job);
  return known ? core::to_values(*known) : core::ValueMap{};
}

void JobManager::forecast_changed(core::JobId id) {
  forecast_changed_.insert(id);
  schedule_flush();
}

void JobManager::announce_growth() {
  for (const auto id : std::exchange(forecast_changed_, {})) {
    if (const auto* job = find(id)) observer_->forecast_changed(*job);
  }
}

}  // namespace mljobd
