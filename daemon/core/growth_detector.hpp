// Watches what one attempt of a job needs and tells when it grows steadily towards its limit.
//
// Samples become the minima of one-minute buckets, because a sawtooth (a garbage collector, an epoch's buffers) falls
// back to what is really held; of five buckets in a row the lowest is judged, which is the trough of slower teeth. A
// jump begins a new window. Growth is claimed only where it is significant, even, and not slowing down: a step, a cache
// that fills up and a data set that is being loaded grow too, but not for ever.
//
// It holds about 2 KiB and allocates nothing. A sample costs a few comparisons; once in a bucket some 600 pairs are
// looked at. Nothing here is kept over a restart of the daemon: what it knew it learns again.
#pragma once

#include <limits>
#include <optional>

#include "core/forecast.hpp"
#include "core/growth_settings.hpp"
#include "core/growth_verdict.hpp"
#include "core/sample_buckets.hpp"
#include "core/trend.hpp"
#include "core/types.hpp"

namespace mljobd::core {

class GrowthDetector {
 public:
  // `warmup` is the job's own: what it loads in that time is not growth, and nothing is waited for after it.
  explicit GrowthDetector(const GrowthSettings& settings, std::optional<Microseconds> warmup = std::nullopt);

  // What it needs now (needed_memory). Times that go back count as no time; samples while suspended do not count.
  void add(BootTime time, Bytes needed);

  // While it is throttled, frozen or parked its memory says nothing, and that time does not pass.
  void suspend();
  void resume();

  // `limit` is what it will run into first: its own, or what the machine has left for it. `unlimited` for none.
  [[nodiscard]] Forecast forecast(Bytes now, Bytes limit) const;

 private:
  struct Points;

  void advance(BootTime time);
  void look();
  void begin_warmup(double level_before);
  [[nodiscard]] bool warmup_ended();
  void restart_after_jump();
  void judge();
  void judge_long();
  [[nodiscard]] Points troughs() const;
  [[nodiscard]] double height_before(const Points& points) const;
  [[nodiscard]] bool matters(const GrowthClaim& claim, double reference) const;
  [[nodiscard]] double recent_height(double now) const;
  void foretell(Forecast& forecast, const Trend& trend, double distance) const;

  GrowthSettings settings_;
  std::optional<Microseconds> own_warmup_;
  SampleBuckets buckets_;
  SampleBuckets long_buckets_;  // of troughs
  GrowthClaim claim_;
  GrowthClaim long_claim_;
  Microseconds active_{0};  // time that counted so far
  std::optional<BootTime> last_time_{};
  Microseconds warmup_begin_{0};
  double fastest_load_ = 0;                                        // bytes by bucket, since then
  double level_before_ = std::numeric_limits<double>::infinity();  // what it held before it was started again
  bool warming_up_ = true;
  bool suspended_ = false;
  bool skip_gap_ = false;  // the time since the last sample was spent suspended
};

}  // namespace mljobd::core
