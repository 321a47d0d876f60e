#include "core/scheduler.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/format.hpp"

namespace mljobd::core {
namespace {

struct Refusal {
  PendingReason reason = PendingReason::none;
  std::string detail;
};
using Decision = std::optional<Refusal>;  // empty: nothing stands in the way

// More are not worth reading; the first ones are the largest.
constexpr std::size_t named_jobs = 3;

// What is taken, by the jobs that run and by those that this plan starts.
class Ledger {
 public:
  explicit Ledger(const SchedulerInput& input) : capacity_(input.memory_capacity), holders_(input.running) {
    for (const auto& job_class : input.classes) classes_.try_emplace(job_class.name, ClassUse{.job_class = &job_class});
    for (const auto& job : holders_) count(job.class_name, job.memory_claim);
  }

  void take(const WaitingJob& job) {
    holders_.push_back({job.id, job.owner, job.class_name, job.memory_claim});
    count(job.class_name, job.memory_claim);
  }

  [[nodiscard]] Bytes capacity() const { return capacity_; }
  // Claims can exceed the capacity: it may have been lowered under running jobs.
  [[nodiscard]] Bytes free() const { return capacity_ - std::min(capacity_, used_); }

  struct ClassUse {
    const JobClass* job_class = nullptr;
    std::uint32_t running = 0;
  };
  // Null for a class that is not configured (any more).
  [[nodiscard]] const ClassUse* use_of(std::string_view class_name) const {
    const auto found = classes_.find(class_name);
    return found == classes_.end() ? nullptr : &found->second;
  }

  // The jobs whose end would make room for the claim, largest first. Sorts: once a plan, for the head of the queue.
  [[nodiscard]] std::vector<JobId> in_the_way_of(Bytes claim) const {
    auto holders = holders_;
    std::sort(holders.begin(), holders.end(), [](const RunningJob& left, const RunningJob& right) {
      return std::tuple(right.memory_claim, left.id) < std::tuple(left.memory_claim, right.id);
    });
    std::vector<JobId> ids;
    // Counted down from what is used, not up from what is free: the former may be more than the capacity.
    Bytes used = used_;
    for (const auto& holder : holders) {
      if (claim <= capacity_ - std::min(capacity_, used)) break;
      ids.push_back(holder.id);
      used -= std::min(used, holder.memory_claim);
    }
    return ids;
  }

 private:
  void count(std::string_view class_name, Bytes claim) {
    if (const auto found = classes_.find(class_name); found != classes_.end()) ++found->second.running;
    used_ = claim > unlimited - used_ ? unlimited : used_ + claim;
  }

  Bytes capacity_;
  Bytes used_ = 0;
  std::map<std::string_view, ClassUse> classes_;
  std::vector<RunningJob> holders_;
};

std::string waits_for(const std::vector<JobId>& ids) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), named_jobs); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
  }
  if (ids.size() > named_jobs) text += " and " + std::to_string(ids.size() - named_jobs) + " more";
  return text;
}

// One pass over the queue. Each gate answers for one reason to wait and knows nothing of the others; a new one
// (dependencies, cores, fair share) is a function more and a line in `gates`. Their order is that of what is said when
// several apply: what only a person can end comes first, and a job that may not start whatever is free must not get as
// far as the gate that reserves what is free.
class Planner {
 public:
  explicit Planner(const SchedulerInput& input) : input_(input), ledger_(input) {}

  PlanEntry decide(const WaitingJob& job) {
    using Gate = Decision (Planner::*)(const WaitingJob&);
    constexpr std::array<Gate, 4> gates{&Planner::held, &Planner::draining, &Planner::class_full, &Planner::memory};
    for (const auto gate : gates) {
      if (auto refusal = (this->*gate)(job)) {
        return {.id = job.id, .start = false, .reason = refusal->reason, .detail = std::move(refusal->detail)};
      }
    }
    // A job that only the limit keeps back has its place all the same: nobody may take it meanwhile.
    ledger_.take(job);
    const bool start = started_ < input_.start_limit;
    if (start) ++started_;
    return {.id = job.id, .start = start};
  }

 private:
  Decision held(const WaitingJob& job) {
    if (!job.held) return std::nullopt;
    return Refusal{PendingReason::held, ""};
  }

  Decision draining(const WaitingJob& /*job*/) {
    if (!input_.draining) return std::nullopt;
    return Refusal{PendingReason::draining, ""};
  }

  Decision behind_head() const {
    return Refusal{PendingReason::priority, "behind job " + std::to_string(head_->id) + ", which waits for memory"};
  }

  Decision class_full(const WaitingJob& job) {
    const std::string name(job.class_name);
    const auto* const use = ledger_.use_of(job.class_name);
    if (use == nullptr) return Refusal{PendingReason::job_class, "class " + name + " is no longer configured"};
    const std::uint32_t bound = use->job_class->max_running;
    if (bound == 0) return std::nullopt;
    if (use->running >= bound) {
      return Refusal{PendingReason::job_class, std::to_string(use->running) + " of " + std::to_string(bound) + " " +
                                                   name + (bound == 1 ? " job is running" : " jobs are running")};
    }
    // The head keeps a place in its class as well: else small jobs of the class could take it in turns for ever.
    if (head_ && head_->class_name == job.class_name && use->running + 1 >= bound) return behind_head();
    return std::nullopt;
  }

  Decision memory(const WaitingJob& job) {
    if (job.memory_claim == 0) return std::nullopt;
    // It will never fit unless the machine or the configuration changes: waiting for it would stop the queue for good.
    if (job.memory_claim > ledger_.capacity()) {
      return Refusal{PendingReason::resources_memory, "needs " + format_bytes(job.memory_claim) +
                                                          ", but jobs on this machine may use " +
                                                          format_bytes(ledger_.capacity()) + " in all"};
    }
    if (head_) return behind_head();
    if (job.memory_claim <= ledger_.free()) return std::nullopt;
    head_ = job;
    return Refusal{PendingReason::resources_memory, "needs " + format_bytes(job.memory_claim) + ", " +
                                                        format_bytes(ledger_.free()) + " free, waits for " +
                                                        waits_for(ledger_.in_the_way_of(job.memory_claim))};
  }

  const SchedulerInput& input_;
  Ledger ledger_;
  std::optional<WaitingJob> head_;  // the first that waits for memory; what is free is kept for it
  std::uint32_t started_ = 0;
};

// Who comes first. A fair share would enter here, between priority and time.
bool before(const WaitingJob& left, const WaitingJob& right) {
  return std::tuple(right.priority, left.submitted, left.id) < std::tuple(left.priority, right.submitted, right.id);
}

}  // namespace

std::vector<PlanEntry> plan(const SchedulerInput& input) {
  auto queue = input.waiting;
  std::sort(queue.begin(), queue.end(), before);
  Planner planner(input);
  std::vector<PlanEntry> entries;
  entries.reserve(queue.size());
  for (const auto& job : queue) entries.push_back(planner.decide(job));
  return entries;
}

}  // namespace mljobd::core
