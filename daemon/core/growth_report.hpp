// What of a job's forecasts is told. Forecasts come every few seconds and differ a little each time; people and
// programs want to hear of each turn once, and to see a number change when it means something else. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/forecast.hpp"
#include "core/growth_settings.hpp"
#include "core/types.hpp"

namespace mljobd::core {

enum class GrowthNews {
  growing,
  leak_suspect,
  warning,   // the limit is near
  critical,  // very near: the last moment to save work
  over,      // it grows no longer, after it was told that it does
};

// "growing", "leak-suspect", "warning", "critical", "over".
[[nodiscard]] std::string_view to_word(GrowthNews news);
// "its memory limit is near: +3.1G/h, limit in 14 min (11–19)". UTF-8.
[[nodiscard]] std::string describe(GrowthNews news, const Forecast& forecast);

class GrowthReport {
 public:
  explicit GrowthReport(const GrowthSettings& settings) : settings_(settings) {}

  struct Change {
    std::vector<GrowthNews> news{};  // each once until the growth is over, or its limit was moved far away
    bool shown = false;              // shown() is another than before
  };

  // Of one attempt, in the order of time.
  [[nodiscard]] Change hear(BootTime now, const Forecast& forecast);

  // The last forecast that differed noticeably from the one before: follows news at once, else at most once a bucket.
  // Of what does not grow there is no rate.
  [[nodiscard]] const Forecast& shown() const { return shown_; }

 private:
  void tell(std::vector<GrowthNews>& news, const Forecast& forecast);
  void forget_told(const Forecast& forecast);

  GrowthSettings settings_;
  Forecast shown_{};
  std::optional<BootTime> shown_since_{};
  Forecast::Severity severity_before_ = Forecast::Severity::none;
  bool told_growing_ = false;
  bool told_leak_ = false;
  bool told_warning_ = false;
  bool told_critical_ = false;
};

}  // namespace mljobd::core
