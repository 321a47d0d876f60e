#include "core/growth_report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace mljobd::core {
namespace {

using Growth = Forecast::Growth;
using Severity = Forecast::Severity;

constexpr double noticeable = 0.1;  // of a rate or of a time
// A limit that is so many times as far away as it takes to be told of has been moved: the next approach is another.
constexpr int moved_away = 2;

bool grows(const Forecast& forecast) {
  return forecast.growth == Growth::growing || forecast.growth == Growth::leak_suspect;
}

bool is_beyond(const Forecast& forecast, Microseconds bound) {
  return !forecast.time_to_limit || *forecast.time_to_limit > bound * moved_away;
}

Forecast without_rate(Forecast forecast) {
  if (!grows(forecast)) forecast.bytes_per_hour = 0;
  return forecast;
}

bool differs(double now, double before) { return std::abs(now - before) > noticeable * std::abs(before); }

bool differs(const Forecast& now, const Forecast& before) {
  if (now.growth != before.growth || now.severity != before.severity) return true;
  if (now.time_to_limit.has_value() != before.time_to_limit.has_value()) return true;
  const auto count = [](const Forecast& forecast) { return static_cast<double>(forecast.time_to_limit->count()); };
  if (now.time_to_limit && differs(count(now), count(before))) return true;
  return differs(now.bytes_per_hour, before.bytes_per_hour);
}

}  // namespace

std::string_view to_word(GrowthNews news) {
  switch (news) {
    case GrowthNews::growing:
      return "growing";
    case GrowthNews::leak_suspect:
      return "leak-suspect";
    case GrowthNews::warning:
      return "warning";
    case GrowthNews::critical:
      return "critical";
    case GrowthNews::over:
      return "over";
  }
  return "";
}

std::string describe(GrowthNews news, const Forecast& forecast) {
  switch (news) {
    case GrowthNews::growing:
      return "its memory grows: " + describe(forecast);
    case GrowthNews::leak_suspect:
      return "its memory grows on: " + describe(forecast);
    case GrowthNews::warning:
      return "its memory limit is near: " + describe(forecast);
    case GrowthNews::critical:
      return "its memory limit is very near: " + describe(forecast);
    case GrowthNews::over:
      return "its memory grows no longer";
  }
  return "";
}

GrowthReport::Change GrowthReport::hear(BootTime now, const Forecast& forecast) {
  Change change;
  if (grows(forecast)) {
    tell(change.news, forecast);
    forget_told(forecast);
  } else if (std::exchange(told_growing_, false)) {
    told_leak_ = told_warning_ = told_critical_ = false;
    change.news.push_back(GrowthNews::over);
  }
  severity_before_ = forecast.severity;
  const auto candidate = without_rate(forecast);
  const bool first = !shown_since_.has_value();
  const bool due = first || now - *shown_since_ >= scaled(settings_.bucket, settings_);
  if (first || (differs(candidate, shown_) && (due || !change.news.empty()))) {
    shown_ = candidate;
    shown_since_ = now;
    change.shown = true;
  }
  return change;
}

void GrowthReport::tell(std::vector<GrowthNews>& news, const Forecast& forecast) {
  const bool knew = std::exchange(told_growing_, true);
  if (forecast.growth == Growth::leak_suspect && !std::exchange(told_leak_, true)) {
    news.push_back(GrowthNews::leak_suspect);
  } else if (!knew) {
    news.push_back(GrowthNews::growing);
  }
  // The machine may lack memory for a moment; what is seen twice is no moment.
  const auto severity = std::min(forecast.severity, severity_before_);
  if (severity == Severity::critical && !std::exchange(told_critical_, true)) {
    told_warning_ = true;
    news.push_back(GrowthNews::critical);
  }
  if (severity >= Severity::warning && !std::exchange(told_warning_, true)) news.push_back(GrowthNews::warning);
}

void GrowthReport::forget_told(const Forecast& forecast) {
  if (is_beyond(forecast, scaled(settings_.warning, settings_))) told_warning_ = false;
  if (is_beyond(forecast, scaled(settings_.critical, settings_))) told_critical_ = false;
}

}  // namespace mljobd::core
