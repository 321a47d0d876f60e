#include "systemd/unit_jobs.hpp"

#include <algorithm>

namespace mljobd::systemd {

void UnitJobs::call_answered() {
  if (--calls_ == 0) endings_.clear();
}

std::optional<std::string> UnitJobs::expect(const std::string& path, Waiting waiting) {
  const auto early = std::find_if(endings_.begin(), endings_.end(), [&](const auto& end) { return end.first == path; });
  if (early != endings_.end()) return early->second;
  waiting_.emplace(path, std::move(waiting));
  return std::nullopt;
}

std::vector<UnitJobs::Waiting> UnitJobs::ended(const std::string& path, const std::string& result) {
  std::vector<Waiting> handlers;
  const auto [first, last] = waiting_.equal_range(path);
  for (auto entry = first; entry != last; ++entry) handlers.push_back(std::move(entry->second));
  waiting_.erase(first, last);
  if (calls_ > 0) {
    if (endings_.size() == kept_endings) endings_.pop_front();
    endings_.emplace_back(path, result);
  }
  return handlers;
}

std::vector<std::pair<std::string, std::string>> UnitJobs::paths_and_units() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (auto entry = waiting_.begin(); entry != waiting_.end(); entry = waiting_.upper_bound(entry->first)) {
    result.emplace_back(entry->first, entry->second.unit);
  }
  return result;
}

}  // namespace mljobd::systemd
