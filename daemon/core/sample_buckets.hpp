// Samples made into buckets of equal length, of which the last ones are kept. Pure; of a fixed size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/types.hpp"

namespace mljobd::core {

struct Bucket {
  std::int64_t index = 0;  // time / length: those of times without a sample are missing
  double minimum = 0;      // bytes
  double maximum = 0;

  bool operator==(const Bucket&) const = default;
};

class SampleBuckets {
 public:
  static constexpr std::size_t capacity = 30;

  // Keeps the last `window` closed ones, at most `capacity`, that are not older than four windows: over a gap the trend
  // goes on, over a night it does not. `length` is above 0.
  SampleBuckets(Microseconds length, std::size_t window);

  // Times never go back: one that does counts as the last. The answer is the bucket that this sample closed.
  std::optional<Bucket> add(Microseconds time, double value);

  // Forgets closed ones, all but that many.
  void keep_last(std::size_t count);
  void clear();

  [[nodiscard]] std::span<const Bucket> closed() const { return std::span(buckets_).first(count_); }
  [[nodiscard]] const std::optional<Bucket>& open() const { return open_; }

 private:
  void close(const Bucket& bucket);

  Microseconds length_;
  std::size_t window_;
  std::array<Bucket, capacity> buckets_{};  // in order of time, the newest last
  std::size_t count_ = 0;
  std::optional<Bucket> open_{};
};

}  // namespace mljobd::core
