#include "core/top_protection.hpp"

#include <algorithm>
#include <utility>

#include "core/unit_names.hpp"
#include "core/victim_selection.hpp"

namespace mljobd::core {
namespace {

constexpr Bytes mebibyte = Bytes{1} << 20;
constexpr Bytes least_amount = 64 * mebibyte;  // the kernel has as much to spare for anybody

// Memory of a program that trains goes up and down by a few percent all the time.
bool differs(Bytes in_force, Bytes wanted) {
  const Bytes difference = std::max(in_force, wanted) - std::min(in_force, wanted);
  return difference > in_force / 8;
}

}  // namespace

const PressureJob* job_to_protect(const PressureSettings& settings, const PressureSnapshot& snapshot) {
  const PressureJob* chosen = nullptr;
  for (const auto& job : snapshot.jobs) {
    const bool runs = job.condition == PressureJob::Condition::running && job.memory.populated;
    if (!runs || snapshot.now.boot - job.started < settings.protect_after) continue;
    if (chosen == nullptr || more_important(job, *chosen)) chosen = &job;
  }
  return chosen;
}

Bytes protected_amount(const PressureSettings& settings, const PressureSnapshot& snapshot, const PressureJob& job) {
  const Bytes bound = std::min(bytes_of(settings.protect_at_most, headroom(snapshot).capacity), job.memory.max);
  const Bytes amount = std::min(movable_memory(job.memory), bound);
  return amount < least_amount ? 0 : amount / mebibyte * mebibyte;
}

TopProtection::TopProtection(const PressureSettings& settings) : settings_(scaled(settings)) {}

void TopProtection::apply_settings(const PressureSettings& settings) { settings_ = scaled(settings); }

void TopProtection::found(const std::string& slice, Bytes low) {
  if (low > 0) in_force_[slice] = low;
}

Bytes TopProtection::settled_amount(const std::string& slice, Bytes wanted, BootTime now) const {
  const auto known = in_force_.find(slice);
  if (known == in_force_.end() || known->second == unlimited) return wanted;
  return now < next_amount_ || !differs(known->second, wanted) ? known->second : wanted;
}

TopProtection::Amounts TopProtection::target(const PressureSnapshot& snapshot) const {
  if (settings_.mode != PressureMode::act) return {};
  const auto* const job = job_to_protect(settings_, snapshot);
  if (job == nullptr) return {};
  const auto slice = job_slice(job->class_name, job->id);
  const Bytes amount = settled_amount(slice, protected_amount(settings_, snapshot, *job), snapshot.now.boot);
  if (amount == 0) return {};
  return {{std::string(root_slice), amount}, {class_slice(job->class_name), amount}, {slice, amount}};
}

void TopProtection::forget_gone(const PressureSnapshot& snapshot) {
  std::erase_if(in_force_, [&](const auto& entry) {
    const auto parsed = parse_job_slice(entry.first);
    if (!parsed) return false;
    const auto& jobs = snapshot.jobs;
    return std::none_of(jobs.begin(), jobs.end(), [&](const PressureJob& job) { return job.id == parsed->id; });
  });
}

std::vector<ProtectionChange> TopProtection::step(const PressureSnapshot& snapshot) {
  // Where no job is left nobody would look again.
  if (snapshot.now.boot < next_try_ && !snapshot.jobs.empty()) return {};
  forget_gone(snapshot);
  auto amounts = target(snapshot);
  std::vector<ProtectionChange> changes;
  for (const auto& [slice, low] : in_force_) {
    if (!amounts.contains(slice)) changes.push_back({.slice = slice, .low = 0});
  }
  for (const auto& [slice, low] : amounts) {
    const auto known = in_force_.find(slice);
    if (known == in_force_.end() || known->second != low) changes.push_back({.slice = slice, .low = low});
  }
  if (!changes.empty()) next_amount_ = snapshot.now.boot + settings_.protect_interval;
  in_force_ = std::move(amounts);
  return changes;
}

void TopProtection::failed(const std::string& slice, BootTime now) {
  // An amount that no job has: whatever is wanted then differs from it.
  in_force_[slice] = unlimited;
  next_try_ = now + settings_.protect_interval;
}

}  // namespace mljobd::core
