#include "scheduler_checks.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace mljobd::core::simulation {
namespace {

using Amounts = std::array<std::uint64_t, 2>;  // memory, cores

Amounts needs_of(const WaitingJob& job) { return {job.memory_claim, job.cores}; }

struct Use {
  Amounts amounts{};
  std::optional<Microseconds> remaining{};
};

struct Head {
  std::uint64_t need = 0;
  std::vector<Use> uses{};  // when it began to wait
};

class Audit {
 public:
  Audit(const SchedulerInput& input, const std::vector<PlanEntry>& entries) : input_(input), entries_(entries) {
    for (const auto& job : input.waiting) waiting_.emplace(job.id, &job);
    for (const auto& job : input.running) {
      add({.amounts = {job.memory_claim, job.cores}, .remaining = job.remaining});
      ++class_use_[job.class_name];
      ++group_use_[job.group];
    }
  }

  std::optional<std::string> run() {
    if (entries_.size() != input_.waiting.size()) return "the plan has not one entry for each job";
    std::uint32_t starts = 0;
    for (const auto& entry : entries_) {
      const auto found = waiting_.find(entry.id);
      if (found == waiting_.end()) return complaint(entry, "is not waiting, or has two entries");
      const auto& job = *found->second;
      waiting_.erase(found);
      if (entry.start) ++starts;
      walk(entry, job);
      if (!complaint_.empty()) return complaint_;
    }
    if (starts > input_.start_limit) return "the plan starts more than it may";
    check_alike();
    if (complaint_.empty() && !somebody_reserves_) check_idle();
    if (complaint_.empty()) return std::nullopt;
    return complaint_;
  }

 private:
  std::string complaint(const PlanEntry& entry, const std::string& what) {
    complaint_ = "job " + std::to_string(entry.id) + " " + what + " (" + std::string(to_word(entry.reason)) + ": " +
                 entry.detail + ")";
    return complaint_;
  }

  void add(const Use& use) {
    for (std::size_t i = 0; i < used_.size(); ++i) used_[i] += use.amounts[i];
    uses_.push_back(use);
  }

  [[nodiscard]] std::uint64_t capacity(std::size_t resource) const {
    return resource == 0 ? input_.memory_capacity : input_.core_capacity;
  }
  [[nodiscard]] std::uint64_t free(std::size_t resource) const { return capacity(resource) - used_[resource]; }

  // The entries are walked in their order, which is that in which the jobs were served.
  void walk(const PlanEntry& entry, const WaitingJob& job) {
    const bool has_place = entry.start || (entry.reason == PendingReason::none && input_.start_limit > 0);
    if (has_place) return take(entry, job);
    blocked_.push_back(&job);
    if (entry.reason == PendingReason::priority && !heads_[0] && !heads_[1]) complaint(entry, "is behind nobody");
    if (entry.reason == PendingReason::resources_memory) lack(entry, job, 0);
    if (entry.reason == PendingReason::resources_cpus) lack(entry, job, 1);
  }

  void lack(const PlanEntry& entry, const WaitingJob& job, std::size_t resource) {
    const auto needs = needs_of(job);
    if (needs[resource] > capacity(resource)) return;  // it can never run and reserves nothing
    if (needs[resource] <= free(resource)) return void(complaint(entry, "waits for what is free"));
    somebody_reserves_ = true;
    for (std::size_t i = resource; i < needs.size(); ++i) {
      if (needs[i] <= free(i)) continue;
      if (heads_[i]) return void(complaint(entry, "reserves what is reserved"));
      heads_[i] = Head{.need = needs[i], .uses = uses_};
    }
    if (resource == 1) add({.amounts = {needs[0], 0}});  // what it has got already
  }

  void take(const PlanEntry& entry, const WaitingJob& job) {
    const auto needs = needs_of(job);
    if (job.held) return void(complaint(entry, "is held and starts"));
    if (job.begin && *job.begin > input_.now.real) return void(complaint(entry, "starts before its time"));
    if (job.dependency.status != DependencyStatus::satisfied) return void(complaint(entry, "starts before others"));
    for (std::size_t i = 0; i < needs.size(); ++i) {
      if (needs[i] > free(i)) return void(complaint(entry, "takes more than there is"));
      if (needs[i] > 0 && heads_[i] && !ends_before(job, *heads_[i], i)) {
        return void(complaint(entry, "takes what is reserved"));
      }
    }
    add({.amounts = needs, .remaining = job.time_limit});
    const auto limit = limit_of(job.class_name);
    if (++class_use_[job.class_name] > limit && limit != 0)
      return void(complaint(entry, "is one too many of its class"));
    if (++group_use_[job.group] > job.group_limit && job.group_limit != 0)
      complaint(entry, "is one too many of its group");
  }

  // Whatever ends before the job does, it is not enough for the head; some time later it is.
  [[nodiscard]] bool ends_before(const WaitingJob& job, const Head& head, std::size_t resource) const {
    if (!job.time_limit) return false;
    std::uint64_t meanwhile = 0;
    std::uint64_t at_last = 0;
    for (const auto& use : head.uses) {
      if (!use.remaining || *use.remaining >= *job.time_limit) meanwhile += use.amounts[resource];
      if (!use.remaining) at_last += use.amounts[resource];
    }
    return meanwhile + head.need > capacity(resource) && at_last + head.need <= capacity(resource);
  }

  [[nodiscard]] std::uint32_t limit_of(std::string_view class_name) const {
    for (const auto& job_class : input_.classes) {
      if (job_class.name == class_name) return job_class.max_running;
    }
    return 0;
  }

  void check_alike() {
    const auto signature = [](const WaitingJob& job) {
      return std::tuple(job.owner, job.priority, job.class_name, job.memory_claim, job.cores, job.group,
                        job.time_limit);
    };
    std::unordered_map<JobId, bool> starts;
    for (const auto& entry : entries_) starts.emplace(entry.id, entry.start);
    for (const auto& younger : input_.waiting) {
      if (!starts[younger.id]) continue;
      for (const auto* const older : blocked_) {
        const bool may_start = !older->held && (!older->begin || *older->begin <= input_.now.real) &&
                               older->dependency.status == DependencyStatus::satisfied;
        const bool is_older = std::tie(older->submitted, older->id) < std::tie(younger.submitted, younger.id);
        if (!may_start || !is_older || signature(*older) != signature(younger)) continue;
        complaint_ = "job " + std::to_string(younger.id) + " starts before the older " + std::to_string(older->id);
      }
    }
  }

  void check_idle() {
    for (const auto* const job : blocked_) {
      const auto needs = needs_of(*job);
      if (job->held || (job->begin && *job->begin > input_.now.real)) continue;
      if (job->dependency.status != DependencyStatus::satisfied) continue;
      if (needs[0] > free(0) || needs[1] > free(1)) continue;
      const auto limit = limit_of(job->class_name);
      if (limit != 0 && class_use_[job->class_name] >= limit) continue;
      if (job->group_limit != 0 && group_use_[job->group] >= job->group_limit) continue;
      complaint_ = "job " + std::to_string(job->id) + " waits although nothing is in its way";
    }
  }

  const SchedulerInput& input_;
  const std::vector<PlanEntry>& entries_;
  std::unordered_map<JobId, const WaitingJob*> waiting_;
  std::vector<const WaitingJob*> blocked_;
  std::vector<Use> uses_;
  Amounts used_{};
  std::map<std::string_view, std::uint32_t> class_use_;
  std::map<std::string_view, std::uint32_t> group_use_;
  std::array<std::optional<Head>, 2> heads_{};
  bool somebody_reserves_ = false;
  std::string complaint_;
};

}  // namespace

std::optional<std::string> check_plan(const SchedulerInput& input, const std::vector<PlanEntry>& entries) {
  return Audit(input, entries).run();
}

}  // namespace mljobd::core::simulation
