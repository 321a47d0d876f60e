#include "core/sample_buckets.hpp"

#include <algorithm>

namespace mljobd::core {

SampleBuckets::SampleBuckets(Microseconds length, std::size_t window)
    : length_(std::max(length, Microseconds(1))), window_(std::min(window, capacity)) {}

std::optional<Bucket> SampleBuckets::add(Microseconds time, double value) {
  const std::int64_t index = time / length_;
  if (open_ && index <= open_->index) {
    open_->minimum = std::min(open_->minimum, value);
    open_->maximum = std::max(open_->maximum, value);
    return std::nullopt;
  }
  const auto closed = open_;
  if (closed) close(*closed);
  open_ = Bucket{.index = index, .minimum = value, .maximum = value};
  return closed;
}

void SampleBuckets::keep_last(std::size_t count) {
  const auto end = buckets_.begin() + static_cast<std::ptrdiff_t>(count_);
  count_ = std::min(count, count_);
  std::move(end - static_cast<std::ptrdiff_t>(count_), end, buckets_.begin());
}

void SampleBuckets::clear() {
  count_ = 0;
  open_.reset();
}

void SampleBuckets::close(const Bucket& bucket) {
  const auto begin = buckets_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(count_);
  const auto oldest = bucket.index - 4 * static_cast<std::int64_t>(window_) + 1;
  const auto first = count_ < window_ ? begin : begin + 1;
  const auto kept = std::find_if(first, end, [&](const Bucket& known) { return known.index >= oldest; });
  const auto moved = std::move(kept, end, begin);
  *moved = bucket;
  count_ = static_cast<std::size_t>(moved - begin) + 1;
}

}  // namespace mljobd::core
