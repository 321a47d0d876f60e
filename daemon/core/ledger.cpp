#include "core/ledger.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace mljobd::core {
namespace {

std::uint64_t left_of(std::uint64_t capacity, std::uint64_t used) { return capacity - std::min(capacity, used); }

}  // namespace

Ledger::Ledger(const SchedulerInput& input) : capacity_(input.memory_capacity, input.core_capacity) {
  for (const auto& job_class : input.classes)
    classes_.try_emplace(job_class.name, Places{.limit = job_class.max_running});
  holders_.reserve(input.running.size());
  for (const auto& job : input.running) {
    count({.id = job.id, .amounts = {job.memory_claim, job.cores}, .remaining = job.remaining});
    if (auto* const places = places_of_class(job.class_name)) ++places->taken;
    if (!job.group.empty()) ++groups_[job.group].taken;
  }
}

void Ledger::count(const Holder& holder) {
  for (const auto resource : resources) {
    const auto more = holder.amounts[resource];
    auto& used = used_[resource];
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    used = more > most - used ? most : used + more;
  }
  holders_.push_back(holder);
}

std::uint64_t Ledger::free(Resource resource) const { return left_of(capacity_[resource], used_[resource]); }

Places* Ledger::places_of_class(std::string_view name) {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &found->second;
}

Places* Ledger::places_of_group(const WaitingJob& job) {
  if (job.group.empty() || job.group_limit == 0) return nullptr;
  Places& places = groups_[job.group];
  if (places.limit != job.group_limit) places.full_text.clear();
  places.limit = job.group_limit;
  return &places;
}

void Ledger::take(const WaitingJob& job) {
  count({.id = job.id, .amounts = needs_of(job), .remaining = job.time_limit});
  if (auto* const places = places_of_class(job.class_name)) ++places->taken;
  if (!job.group.empty()) ++groups_[job.group].taken;
}

void Ledger::keep(const WaitingJob& job, Resource resource) {
  Holder holder{.id = job.id};
  holder.amounts[resource] = needs_of(job)[resource];
  count(holder);
}

std::vector<JobId> Ledger::in_the_way_of(Resource resource, std::uint64_t amount) const {
  std::vector<const Holder*> holders;
  for (const auto& holder : holders_) {
    if (holder.amounts[resource] > 0) holders.push_back(&holder);
  }
  std::sort(holders.begin(), holders.end(), [resource](const Holder* left, const Holder* right) {
    return std::tuple(right->amounts[resource], left->id) < std::tuple(left->amounts[resource], right->id);
  });
  std::vector<JobId> ids;
  // Counted down from what is used, not up from what is free: the former may be more than the capacity.
  std::uint64_t used = used_[resource];
  for (const auto* const holder : holders) {
    if (amount <= left_of(capacity_[resource], used)) break;
    ids.push_back(holder->id);
    used -= std::min(used, holder->amounts[resource]);
  }
  return ids;
}

std::optional<Microseconds> Ledger::free_after(Resource resource, std::uint64_t amount) const {
  std::vector<const Holder*> holders;
  for (const auto& holder : holders_) {
    if (holder.amounts[resource] > 0 && holder.remaining) holders.push_back(&holder);
  }
  std::sort(holders.begin(), holders.end(),
            [](const Holder* left, const Holder* right) { return *left->remaining < *right->remaining; });
  std::uint64_t used = used_[resource];
  Microseconds after{0};
  for (const auto* const holder : holders) {
    if (amount <= left_of(capacity_[resource], used)) return after;
    after = std::max(after, *holder->remaining);
    used -= std::min(used, holder->amounts[resource]);
  }
  if (amount <= left_of(capacity_[resource], used)) return after;
  return std::nullopt;
}

}  // namespace mljobd::core
