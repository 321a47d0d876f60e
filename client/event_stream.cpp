#include "client/event_stream.hpp"

#include <algorithm>

#include "client/values.hpp"

namespace mljobd::client {

std::vector<core::ValueMap> EventStream::fresh(const std::vector<core::ValueMap>& events) {
  std::vector<core::ValueMap> result;
  auto seen = at_newest_;
  for (const auto& event : events) {
    const auto time = value_or<std::uint64_t>(event, "time", 0);
    if (time < newest_) continue;
    if (time > newest_) {
      newest_ = time;
      at_newest_.clear();
      seen.clear();
    }
    // Two equal entries of one moment are two events: each takes one that was seen.
    const auto known = std::find(seen.begin(), seen.end(), event);
    if (known != seen.end()) {
      seen.erase(known);
      continue;
    }
    at_newest_.push_back(event);
    result.push_back(event);
  }
  return result;
}

}  // namespace mljobd::client
