// The manager's part that has to do with growing memory: what the watch over it says is recorded and told.
#include <string>
#include <utility>

#include "core/forecast.hpp"
#include "core/format.hpp"
#include "core/growth_report.hpp"
#include "core/signal_names.hpp"
#include "job_manager.hpp"
#include "log.hpp"
#include "pressure_guard.hpp"
#include "store/pressure_record.hpp"

namespace mljobd {
namespace {

std::string checkpoint_name(const core::Job& job) {
  return core::signal_name(static_cast<std::uint32_t>(job.spec.checkpoint_signal->number));
}

}  // namespace

core::ValueMap JobManager::forecast(const core::Job& job) const {
  const auto known = guard_->forecast(job);
  return known ? core::to_values(*known) : core::ValueMap{};
}

void JobManager::forecast_changed(core::JobId id) {
  forecast_changed_.insert(id);
  schedule_flush();
}

void JobManager::growth_seen(core::JobId id, const std::vector<core::GrowthNews>& news) {
  core::Job* job = jobs_.find(id);
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
    if (what == core::GrowthNews::critical) save_before_limit(*job);
  }
  schedule_flush();
}

// Once in an attempt: a daemon that was restarted learns of the same growth anew.
void JobManager::save_before_limit(core::Job& job) {
  const bool can = job.spec.checkpoint_signal && std::holds_alternative<core::Running>(job.state);
  if (!can || job.attempt.checkpointed) return;
  if (const auto done = transition(job, core::CheckpointDue{}); !done) log::error(done.error().message);
}

void JobManager::record_checkpoint(const core::Job& job) {
  const auto* stopping = std::get_if<core::Stopping>(&job.state);
  const auto now = loop_.now();
  const std::string why = stopping != nullptr
                              ? "others need its memory, and it is ended in " +
                                    core::format_duration(stopping->saves_until.value_or(now.boot) - now.boot)
                              : core::describe(guard_->forecast(job).value_or(core::Forecast{}));
  const std::string state(core::to_word(job.state));
  events_.push_back({.time = now.real,
                     .job = job.id,
                     .kind = "checkpoint",
                     .old_state = state,
                     .new_state = state,
                     .reason = stopping != nullptr ? "pressure" : "growth",
                     .message = "told to save its work (" + checkpoint_name(job) + "): " + why});
}

void JobManager::checkpoint(const core::Job& job) {
  log::job(job.id, "told to save its work (" + checkpoint_name(job) + ")");
  runner_->signal(job, "main", job.spec.checkpoint_signal->number, [id = job.id](const core::Expected<void>& sent) {
    if (!sent) log::warning("job " + std::to_string(id) + ": the checkpoint signal: " + sent.error().message);
  });
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
