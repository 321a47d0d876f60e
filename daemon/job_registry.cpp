#include "job_registry.hpp"

namespace mljobd {

core::Job& JobRegistry::add(core::Job job) {
  core::Job& added = jobs_.insert_or_assign(job.id, std::move(job)).first->second;
  if (!added.spec.key.empty()) keys_.insert_or_assign(OwnerAndKey(added.owner, added.spec.key), added.id);
  reindex(added);
  return added;
}

void JobRegistry::forget_place(const core::Job& job) {
  active_.erase(job.id);
  if (waiting_.erase(job.id) == 0) return;
  const auto count = waiting_of_.find(job.owner);
  if (--count->second == 0) waiting_of_.erase(count);
}

void JobRegistry::reindex(core::Job& job) {
  forget_place(job);
  if (core::has_units(job.state)) active_.emplace(job.id, &job);
  if (!core::is_waiting(job.state)) return;
  waiting_.emplace(job.id, &job);
  ++waiting_of_[job.owner];
}

void JobRegistry::erase(core::JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  forget_place(found->second);
  const auto key = keys_.find(OwnerAndKey(found->second.owner, found->second.spec.key));
  if (key != keys_.end() && key->second == id) keys_.erase(key);
  jobs_.erase(found);
}

core::Job* JobRegistry::find(core::JobId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const core::Job* JobRegistry::find(core::JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::uint32_t JobRegistry::waiting_of(core::UserId owner) const {
  const auto found = waiting_of_.find(owner);
  return found == waiting_of_.end() ? 0 : found->second;
}

std::optional<core::JobId> JobRegistry::with_key(core::UserId owner, const std::string& key) const {
  const auto found = keys_.find(OwnerAndKey(owner, key));
  return found == keys_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<core::JobId> JobRegistry::unfinished_named(core::UserId owner, const std::string& name) const {
  std::vector<core::JobId> ids;
  for (const auto& [id, job] : jobs_) {
    if (job.owner == owner && !core::is_finished(job.state) && job.spec.name == name) ids.push_back(id);
  }
  return ids;
}

}  // namespace mljobd
