// The recent past of a counter, for differences over a window.
#pragma once

#include <deque>
#include <iterator>

#include "core/types.hpp"

namespace mljobd::core {

// Sample has a BootTime `at`. However often samples come, about 64 are kept: one in 64th of the longest window.
template <class Sample>
class SampleHistory {
 public:
  explicit SampleHistory(Microseconds longest_window) : longest_(longest_window), spacing_(longest_window / 64) {}

  // Later than the one before.
  void add(const Sample& sample) {
    if (samples_.size() >= 2 && sample.at - std::prev(samples_.end(), 2)->at < spacing_) samples_.pop_back();
    samples_.push_back(sample);
    while (samples_.size() >= 2 && sample.at - samples_[1].at >= longest_) samples_.pop_front();
  }
  void clear() { samples_.clear(); }

  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] const Sample& latest() const { return samples_.back(); }
  // The last one that is older than the latest by the window at least; null when the past does not reach that far.
  [[nodiscard]] const Sample* before(Microseconds window) const {
    if (samples_.empty()) return nullptr;
    for (auto sample = samples_.rbegin(); sample != samples_.rend(); ++sample) {
      if (samples_.back().at - sample->at >= window) return &*sample;
    }
    return nullptr;
  }

 private:
  Microseconds longest_;
  Microseconds spacing_;
  std::deque<Sample> samples_{};
};

}  // namespace mljobd::core
