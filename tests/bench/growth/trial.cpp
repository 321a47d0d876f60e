#include "trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/growth_detector.hpp"

namespace growth {
namespace {

using mljobd::core::Forecast;
using mljobd::core::GrowthDetector;
using mljobd::core::GrowthSettings;
using mljobd::core::Microseconds;
using std::chrono::minutes;

constexpr minutes shortest_judged(10);
constexpr minutes lasting(150);
constexpr double never = -1;

double in_minutes(Microseconds duration) { return std::chrono::duration<double, std::ratio<60>>(duration).count(); }

class Trial {
 public:
  Trial(const Trace& trace, Rates& rates) : trace_(trace), rates_(rates) {}

  void look(BootTime time, const Forecast& forecast) {
    const bool grows = forecast.growth >= Forecast::Growth::growing;
    const bool alarms =
        forecast.severity != Forecast::Severity::none || forecast.growth == Forecast::Growth::leak_suspect;
    if (!trace_.onset || time < *trace_.onset) {
      reported_ = reported_ || grows;
      alarmed_ = alarmed_ || alarms;
      return;
    }
    ++buckets_;
    if (grows && detected_after_ == 0) detected_after_ = buckets_;
    taken_back_ = taken_back_ || (detected_after_ > 0 && !grows);
    wavered_ = wavered_ || (taken_back_ && grows);
    if (forecast.severity != Forecast::Severity::none && notice_ == never && trace_.hit) {
      notice_ = in_minutes(*trace_.hit - time);
    }
    leak_ = leak_ || forecast.growth == Forecast::Growth::leak_suspect;
    if (trace_.hit && is_in_last_third(time)) judge(time, forecast);
  }

  void finish() {
    ++rates_.traces;
    rates_.reported += reported_ ? 1 : 0;
    rates_.alarmed += alarmed_ ? 1 : 0;
    if (trace_.onset && trace_.samples.back().time - *trace_.onset >= lasting) {
      ++rates_.lasting;
      rates_.leaks += leak_ ? 1 : 0;
    }
    rates_.wavering += wavered_ ? 1 : 0;
    if (detected_after_ > 0) {
      rates_.buckets.push_back(detected_after_);
      (detected_after_ <= 30 ? rates_.detected : rates_.detected_later) += 1;
    }
    if (notice_ != never) rates_.notice.push_back(notice_);
  }

 private:
  [[nodiscard]] bool is_in_last_third(BootTime time) const {
    const auto left = *trace_.hit - time;
    return left >= shortest_judged && left <= (*trace_.hit - *trace_.onset) / 3;
  }

  void judge(BootTime time, const Forecast& forecast) {
    if (!forecast.time_to_limit) {
      ++rates_.without_forecast;
      return;
    }
    const double left = in_minutes(*trace_.hit - time);
    rates_.errors.push_back((in_minutes(*forecast.time_to_limit) - left) / left);
  }

  const Trace& trace_;
  Rates& rates_;
  bool reported_ = false;
  bool alarmed_ = false;
  bool leak_ = false;
  bool taken_back_ = false;
  bool wavered_ = false;
  int buckets_ = 0;         // that were seen since the onset
  int detected_after_ = 0;  // of them; 0 for not yet
  double notice_ = never;   // minutes from the first warning to the limit
};

}  // namespace

Rates try_shape(Shape shape, int traces, const GrowthSettings& settings) {
  Rates rates;
  const auto samples_in_bucket = settings.bucket / settings.sample;
  for (int seed = 0; seed < traces; ++seed) {
    const auto trace = make_trace(shape, static_cast<std::uint64_t>(seed));
    GrowthDetector detector(settings);
    Trial trial(trace, rates);
    std::int64_t count = 0;
    for (const Sample& sample : trace.samples) {
      if (sample.suspended) {
        detector.suspend();
        continue;
      }
      detector.resume();
      detector.add(sample.time, sample.needed);
      if (++count % samples_in_bucket == 0) trial.look(sample.time, detector.forecast(sample.needed, trace.limit));
    }
    trial.finish();
  }
  return rates;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

double share_within(const Rates& rates, double error) {
  const auto all = static_cast<double>(rates.errors.size()) + rates.without_forecast;
  const auto good =
      std::count_if(rates.errors.begin(), rates.errors.end(), [&](double found) { return std::abs(found) <= error; });
  return all == 0 ? 0 : static_cast<double>(good) / all;
}

}  // namespace growth
