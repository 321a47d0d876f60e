#include "client/wait_tracker.hpp"

#include <algorithm>

namespace mljobd::client {
namespace {

bool runs(std::string_view state) {
  return state == "running" || state == "frozen" || state == "parked" || state == "stopping";
}

}  // namespace

WaitTracker::WaitTracker(const std::vector<core::JobId>& ids, WaitFor target, WaitMode mode)
    : target_(target), mode_(mode) {
  for (const auto id : ids) jobs_.emplace(id, Entry{});
}

bool WaitTracker::concerns(core::JobId id, std::string_view new_state) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.arrived) return false;
  return new_state == "finished" || (target_ == WaitFor::running && runs(new_state));
}

void WaitTracker::update(const JobRow& row) {
  const auto found = jobs_.find(row.id);
  if (found == jobs_.end() || found->second.arrived) return;
  auto& entry = found->second;
  if (target_ == WaitFor::running && (runs(row.state) || (is_finished(row) && was_started(row)))) {
    entry = {.arrived = true, .exit_code = 0};
  } else if (is_finished(row)) {
    entry = {.arrived = true, .exit_code = exit_code_of(row)};
  }
}

bool WaitTracker::succeeded(core::JobId id, std::string_view new_state, std::string_view reason) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || new_state != "finished" || reason != "done") return false;
  if (!found->second.arrived) found->second = {.arrived = true, .exit_code = 0};
  return true;
}

bool WaitTracker::complete() const {
  const auto arrived = [](const auto& job) { return job.second.arrived; };
  return mode_ == WaitMode::any ? std::any_of(jobs_.begin(), jobs_.end(), arrived)
                                : std::all_of(jobs_.begin(), jobs_.end(), arrived);
}

std::vector<core::JobId> WaitTracker::outstanding() const {
  std::vector<core::JobId> ids;
  for (const auto& [id, entry] : jobs_) {
    if (!entry.arrived) ids.push_back(id);
  }
  return ids;
}

int WaitTracker::exit_code() const {
  int largest = 0;
  for (const auto& [id, entry] : jobs_) {
    if (entry.arrived) largest = std::max(largest, entry.exit_code);
  }
  return largest;
}

}  // namespace mljobd::client
