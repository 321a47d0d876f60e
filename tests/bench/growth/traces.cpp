#include "traces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

namespace growth {
namespace {

using mljobd::core::Microseconds;

constexpr double gibibyte = 1024.0 * 1024 * 1024;
constexpr double sample_minutes = 5.0 / 60;
constexpr double length = 300;  // minutes
constexpr double warmup = 10;
constexpr double plateau = 5;

constexpr std::array words{std::pair{Shape::flat, std::string_view("flat")},
                           std::pair{Shape::step, std::string_view("step")},
                           std::pair{Shape::sawtooth, std::string_view("sawtooth")},
                           std::pair{Shape::saturating, std::string_view("saturating")},
                           std::pair{Shape::preload, std::string_view("preload plateau")},
                           std::pair{Shape::restart, std::string_view("restart")},
                           std::pair{Shape::gap, std::string_view("gap")},
                           std::pair{Shape::drift, std::string_view("drift")},
                           std::pair{Shape::drift_at_start, std::string_view("drift from start")},
                           std::pair{Shape::sawtooth_drift, std::string_view("sawtooth+drift")},
                           std::pair{Shape::restart_drift, std::string_view("restart+drift")},
                           std::pair{Shape::gap_drift, std::string_view("gap+drift")},
                           std::pair{Shape::long_teeth_drift, std::string_view("long teeth+drift")},
                           std::pair{Shape::stairs_drift, std::string_view("stairs")},
                           std::pair{Shape::slow_drift, std::string_view("slow drift")}};

class Random {
 public:
  Random(Shape shape, std::uint64_t seed) : engine_(seed * 64 + static_cast<std::uint64_t>(shape)) {}

  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  // Small ones as often as large ones.
  double log_between(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }
  int count(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool chance(double probability) { return between(0, 1) < probability; }
  double normal() { return std::normal_distribution<double>(0, 1)(engine_); }

 private:
  std::mt19937_64 engine_;
};

// What every process adds to its course: jitter, slow wandering, and short bursts upwards.
class Noise {
 public:
  Noise(Random& random, double level)
      : random_(random),
        white_(level * random.log_between(0.0002, 0.005)),
        wander_(level * random.log_between(0.0002, 0.003)),
        memory_(std::exp(-sample_minutes / random.between(1, 10))),
        burst_(level * random.between(0, 0.02)) {}

  double next() {
    state_ = memory_ * state_ + std::sqrt(1 - memory_ * memory_) * random_.normal() * wander_;
    if (burst_left_ == 0 && random_.chance(0.01)) burst_left_ = random_.count(1, 4);
    double value = state_ + white_ * random_.normal();
    if (burst_left_ > 0) {
      --burst_left_;
      value += burst_ * random_.between(0.5, 1);
    }
    return value;
  }

 private:
  Random& random_;
  double white_;
  double wander_;
  double memory_;
  double burst_;
  double state_ = 0;
  int burst_left_ = 0;
};

// A tooth after the other, each a little different.
class Teeth {
 public:
  Teeth(Random& random, double height, double period)
      : random_(random), height_(height), period_(period), phase_(random.between(0, 1)) {}

  double next() {
    phase_ += sample_minutes / period_ * speed_;
    if (phase_ >= 1) {
      phase_ -= std::floor(phase_);
      speed_ = random_.between(0.9, 1.1);
      scale_ = random_.between(0.95, 1);
    }
    return height_ * scale_ * phase_;
  }

 private:
  Random& random_;
  double height_;
  double period_;
  double phase_;
  double speed_ = 1;
  double scale_ = 1;
};

double ramp(double time, double begin, double duration) { return std::clamp((time - begin) / duration, 0.0, 1.0); }

// The course of one job, in bytes and minutes, put together from parts that most shapes leave out.
class Course {
 public:
  Course(Shape shape, std::uint64_t seed)
      : shape_(shape), random_(shape, seed), level_(random_.log_between(1, 48) * gibibyte), noise_(random_, level_) {
    choose_load();
    choose_steps();
    choose_breaks();
    choose_drift();
  }

  Trace run() {
    Trace trace;
    constexpr auto samples = static_cast<int>(length / sample_minutes);
    for (int i = 0; i < samples; ++i) {
      const double time = i * sample_minutes;
      const bool is_in_gap = std::any_of(gaps_.begin(), gaps_.end(), [&](const Span& gap) {
        return time >= gap.begin && time < gap.begin + gap.duration;
      });
      if (!(is_in_gap && suspends_)) worked_ += sample_minutes;
      const double needed = std::max(value(time), 0.0);
      if (is_in_gap && !suspends_) continue;
      trace.samples.push_back({.time = moment(time), .needed = static_cast<Bytes>(needed), .suspended = is_in_gap});
      if (grows(shape_) && needed >= limit_) {
        trace.hit = moment(time);
        break;
      }
    }
    finish(trace);
    return trace;
  }

 private:
  struct Span {
    double begin = 0;
    double duration = 0;
    double height = 0;
  };

  static BootTime moment(double minutes) {
    return BootTime(Microseconds(static_cast<Microseconds::rep>(minutes * 60e6)));
  }

  void choose_load() {
    load_.duration = shape_ == Shape::preload ? random_.between(5, 45) : random_.between(0.3, 8);
    load_is_concave_ = random_.chance(0.3);
    if (shape_ == Shape::saturating) {
      growth_ = {.begin = random_.between(0, 60),
                 .duration = random_.log_between(3, 60),
                 .height = level_ * random_.log_between(0.1, 1.5)};
      saturates_by_logarithm_ = random_.chance(0.5);
    }
    const bool short_teeth = shape_ == Shape::sawtooth_drift;
    if (short_teeth || shape_ == Shape::sawtooth || shape_ == Shape::long_teeth_drift) {
      const double period = shape_ == Shape::long_teeth_drift ? random_.log_between(5, 15)
                                                              : random_.log_between(0.33, short_teeth ? 4.5 : 20);
      teeth_height_ = level_ * random_.log_between(0.02, 0.3);
      teeth_.emplace(random_, teeth_height_, period);
    }
  }

  void choose_steps() {
    if (shape_ != Shape::step) return;
    for (int i = random_.count(1, 3); i > 0; --i) {
      const double height = level_ * random_.between(0.05, 0.4) * (random_.chance(0.7) ? 1 : -0.7);
      steps_.push_back({random_.between(0, length), random_.between(0.05, 3), height});
    }
  }

  void choose_breaks() {
    const bool gap = shape_ == Shape::gap || shape_ == Shape::gap_drift;
    suspends_ = random_.chance(0.5);
    for (int i = gap ? random_.count(1, 3) : 0; i > 0; --i) {
      gaps_.push_back({random_.between(10, length), random_.log_between(0.3, gap ? 60 : 1), 0});
    }
    const bool again = shape_ == Shape::restart || shape_ == Shape::restart_drift;
    const int count = shape_ == Shape::restart_drift ? 1 : random_.count(1, 3);
    for (int i = again ? count : 0; i > 0; --i) {
      // The second drift has to have the time to reach the limit.
      const double begin = shape_ == Shape::restart_drift ? random_.between(20, 60) : random_.between(15, length);
      restarts_.push_back({begin, random_.between(0.5, 15), random_.between(0.02, 0.3)});
    }
    std::sort(restarts_.begin(), restarts_.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  }

  void choose_drift() {
    limit_ = level_ / random_.between(0.2, 0.8);
    if (!grows(shape_)) return;
    drift_begin_ = shape_ == Shape::drift_at_start ? 0 : random_.between(15, 60);
    if (shape_ == Shape::restart_drift) drift_begin_ = restarts_[0].begin + restarts_[0].duration;
    const double hours = shape_ == Shape::slow_drift ? random_.between(7, 14) : random_.log_between(1, 3.5);
    limit_ = std::max(limit_, (level_ + teeth_height_) * 1.15);
    drift_ = (limit_ - level_ - teeth_height_) / (hours * 60);
    if (shape_ == Shape::stairs_drift) stair_ = random_.between(3, 12);
  }

  double loaded(double time) const {
    for (auto restart = restarts_.rbegin(); restart != restarts_.rend(); ++restart) {
      if (time >= restart->begin) {
        return restart->height + (1 - restart->height) * ramp(time, restart->begin + 0.5, restart->duration);
      }
    }
    if (!load_is_concave_) return ramp(time, 0, load_.duration);
    return 1 - std::exp(-3 * time / load_.duration);
  }

  double saturated(double time) const {
    const double since = time - growth_.begin;
    if (growth_.height == 0 || since <= 0) return 0;
    if (!saturates_by_logarithm_) return growth_.height * (1 - std::exp(-since / growth_.duration));
    return growth_.height * std::min(std::log1p(since / growth_.duration * 5) / std::log1p(25.0), 1.0);
  }

  double drifted(double time) const {
    const double since = time - drift_begin_ - (time - worked_);
    if (since <= 0) return 0;
    return drift_ * (stair_ > 0 ? std::floor(since / stair_) * stair_ : since);
  }

  double value(double time) {
    double bytes = level_ + (teeth_ ? teeth_->next() : 0) + noise_.next() + saturated(time);
    for (const Span& step : steps_) bytes += step.height * ramp(time, step.begin, step.duration);
    return bytes * loaded(time) + drifted(time);
  }

  void finish(Trace& trace) {
    if (grows(shape_)) {
      trace.onset = moment(std::max(drift_begin_, warmup));
      if (shape_ == Shape::restart_drift)
        trace.onset = moment(std::max(restarts_[0].begin + warmup, drift_begin_ + plateau));
    } else {
      // What never reaches its limit, however near it comes.
      const auto most = std::max_element(trace.samples.begin(), trace.samples.end(),
                                         [](const Sample& a, const Sample& b) { return a.needed < b.needed; });
      limit_ = std::max(limit_, static_cast<double>(most->needed) * random_.between(1.03, 2));
    }
    trace.limit = static_cast<Bytes>(limit_);
  }

  Shape shape_;
  Random random_;
  double level_;
  Noise noise_;
  Span load_{};
  Span growth_{};
  std::optional<Teeth> teeth_{};
  std::vector<Span> steps_{};
  std::vector<Span> gaps_{};
  std::vector<Span> restarts_{};
  double limit_ = 0;
  double teeth_height_ = 0;
  double drift_begin_ = 0;
  double drift_ = 0;   // bytes a minute
  double stair_ = 0;   // minutes
  double worked_ = 0;  // minutes not suspended
  bool suspends_ = false;
  bool load_is_concave_ = false;
  bool saturates_by_logarithm_ = false;
};

}  // namespace

std::string_view to_word(Shape shape) { return words[static_cast<std::size_t>(shape)].second; }

bool grows(Shape shape) { return shape >= Shape::drift; }

Trace make_trace(Shape shape, std::uint64_t seed) { return Course(shape, seed).run(); }

}  // namespace growth
