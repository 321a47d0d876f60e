// The manager's part that has to do with growing memory: what the watch over it says is recorded and told.
#include <string>
#include <utility>

#include "core/forecast.hpp"
#include "core/growth_report.hpp"
#include "job_manager.hpp"
#include "log.hpp"
#include "pressure_guard.hpp"
#include "store/pressure_record.hpp"

namespace mljobd {

core::ValueMap JobManager::forecast(const core::Job& job) const {
  const auto known = guard_->forecast(job);
  return known ? core::to_values(*known) : core::ValueMap{};
}

void JobManager::forecast_changed(core::JobId id) {
  forecast_changed_.insert(id);
  schedule_flush();
}

void JobManager::growth_seen(core::JobId id, const std::vector<core::GrowthNews>& news) {
  const core::Job* job = jobs_.find(id);
  if (job == nullptr) return;
  const auto forecast = guard_->forecast(*job).value_or(core::Forecast{});
  const std::string state(core::to_word(job->state));
  for (const auto what : news) {
    events_.push_back({.time = loop_.now().real,
                       .job = id,
                       .kind = "forecast",
                       .old_state = state,
                       .new_state = state,
                       .reason = std::string(core::to_word(what)),
                       .message = core::describe(what, forecast),
                       .details = store::encode_details(core::to_values(forecast))});
    growth_.push_back({.id = id, .news = what, .forecast = forecast});
  }
  schedule_flush();
}

void JobManager::announce_growth() {
  for (const auto id : std::exchange(forecast_changed_, {})) {
    if (const auto* job = find(id)) observer_->forecast_changed(*job);
  }
  for (const auto& event : std::exchange(growth_, {})) {
    const auto* job = find(event.id);
    if (job == nullptr) continue;
    const bool urgent = event.news == core::GrowthNews::warning || event.news == core::GrowthNews::critical;
    log::growth({.job = event.id,
                 .word = core::to_word(event.news),
                 .message = core::describe(event.news, event.forecast),
                 .bytes_per_hour = static_cast<std::int64_t>(event.forecast.bytes_per_hour),
                 .time_to_limit = event.forecast.time_to_limit,
                 .urgent = urgent});
    observer_->growth_seen(*job, event);
  }
}

}  // namespace mljobd
