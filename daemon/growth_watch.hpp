// Follows what each running job needs, and says which of them grow towards their limit. It is shown the samples that
// the pressure guard takes anyway; it reads nothing and decides nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/forecast.hpp"
#include "core/growth_detector.hpp"
#include "core/growth_report.hpp"
#include "core/growth_settings.hpp"
#include "core/job.hpp"
#include "core/memory_sample.hpp"
#include "core/types.hpp"
#include "job_registry.hpp"

namespace mljobd {

class GrowthWatch {
 public:
  explicit GrowthWatch(const core::GrowthSettings& settings) : settings_(settings) {}

  // What was learned under other settings is learned anew.
  void apply_settings(const core::GrowthSettings& settings);
  // How often samples are of use.
  [[nodiscard]] core::Microseconds sample_interval() const { return core::scaled(settings_.sample, settings_); }

  enum class Pace {
    own,   // it runs as it will
    held,  // throttled, frozen, parked: what its memory does then says nothing
  };
  // `headroom`: what the machine can still give it. Nothing comes of a sample that is sooner than the interval, or of
  // an empty group.
  [[nodiscard]] core::GrowthReport::Change observe(core::BootTime now, const core::Job& job,
                                                   const core::CgroupMemory& memory, core::Bytes headroom, Pace pace);
  // Forgets all others.
  void keep(const JobRegistry::View& active);

  // As it was last told. Empty for an attempt that was not looked at yet, or is over.
  [[nodiscard]] std::optional<core::Forecast> forecast(const core::Job& job) const;
  [[nodiscard]] bool grows(const core::Job& job) const;

 private:
  struct Watched {
    std::uint32_t attempt = 0;
    core::GrowthDetector detector;
    core::GrowthReport report;
    std::optional<core::BootTime> seen{};
  };

  Watched& watched(const core::Job& job);

  core::GrowthSettings settings_;
  std::map<core::JobId, Watched> jobs_;
};

}  // namespace mljobd
