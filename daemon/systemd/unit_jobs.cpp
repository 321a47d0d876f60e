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

void UnitJobs::expect_any(Waiting waiting) {
  auto unit = waiting.unit;
  waiting_by_unit_.emplace(std::move(unit), std::move(waiting));
}

std::vector<UnitJobs::Waiting> UnitJobs::ended(const std::string& path, const std::string& unit,
                                               const std::string& result) {
  std::vector<Waiting> handlers;
  const auto take = [&](std::multimap<std::string, Waiting>& from, const std::string& key) {
    const auto [first, last] = from.equal_range(key);
    for (auto entry = first; entry != last; ++entry) handlers.push_back(std::move(entry->second));
    from.erase(first, last);
  };
  take(waiting_, path);
  take(waiting_by_unit_, unit);
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
