#include "growth_watch.hpp"

#include <algorithm>

namespace mljobd {
namespace {

// What it will run into first: its own limit, or what the machine has left for it.
core::Bytes nearest_limit(const core::CgroupMemory& memory, core::Bytes headroom) {
  const core::Bytes needed = core::needed_memory(memory);
  const core::Bytes room = core::unlimited - needed;
  return std::min(memory.max, needed + std::min(headroom, room));
}

}  // namespace

void GrowthWatch::apply_settings(const core::GrowthSettings& settings) {
  if (settings == settings_) return;
  settings_ = settings;
  jobs_.clear();
}

GrowthWatch::Watched& GrowthWatch::watched(const core::Job& job) {
  auto found = jobs_.find(job.id);
  if (found != jobs_.end() && found->second.attempt != job.attempt.number) {
    jobs_.erase(found);
    found = jobs_.end();
  }
  if (found == jobs_.end()) {
    found = jobs_
                .emplace(job.id, Watched{.attempt = job.attempt.number,
                                         .detector = core::GrowthDetector(settings_, job.spec.warmup),
                                         .report = core::GrowthReport(settings_)})
                .first;
  }
  return found->second;
}

core::GrowthReport::Change GrowthWatch::observe(core::BootTime now, const core::Job& job,
                                                const core::CgroupMemory& memory, core::Bytes headroom, Pace pace) {
  // What could not be read, or is about to end, would pass for memory given back.
  if (!memory.populated) return {};
  Watched& entry = watched(job);
  if (pace == Pace::held) {
    entry.detector.suspend();
    return {};
  }
  entry.detector.resume();
  if (entry.seen && now - *entry.seen < sample_interval()) return {};
  entry.seen = now;
  const core::Bytes needed = core::needed_memory(memory);
  entry.detector.add(now, needed);
  return entry.report.hear(now, entry.detector.forecast(needed, nearest_limit(memory, headroom)));
}

void GrowthWatch::keep(const JobRegistry::View& active) {
  std::erase_if(jobs_, [&](const auto& entry) {
    const auto found = active.find(entry.first);
    return found == active.end() || found->second->attempt.number != entry.second.attempt;
  });
}

std::optional<core::Forecast> GrowthWatch::forecast(const core::Job& job) const {
  const auto found = jobs_.find(job.id);
  const bool known = found != jobs_.end() && found->second.attempt == job.attempt.number;
  if (!known || !std::holds_alternative<core::Running>(job.state)) return std::nullopt;
  return found->second.report.shown();
}

bool GrowthWatch::grows(const core::Job& job) const {
  const auto known = forecast(job);
  return known &&
         (known->growth == core::Forecast::Growth::growing || known->growth == core::Forecast::Growth::leak_suspect);
}

}  // namespace mljobd
