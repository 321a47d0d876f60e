// Tells which entries of overlapping lists of events are new. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/value.hpp"

namespace mljobd::client {

class EventStream {
 public:
  // The entries that were in no earlier list, oldest first.
  [[nodiscard]] std::vector<core::ValueMap> fresh(const std::vector<core::ValueMap>& events);
  // The moment to ask from: entries of that very moment come again, and fresh() leaves them out.
  [[nodiscard]] std::uint64_t since() const { return newest_; }

 private:
  std::uint64_t newest_ = 0;
  std::vector<core::ValueMap> at_newest_{};
};

}  // namespace mljobd::client
