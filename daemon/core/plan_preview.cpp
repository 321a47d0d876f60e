#include "core/plan_preview.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

namespace mljobd::core {
namespace {

class Rehearsal {
 public:
  explicit Rehearsal(PreviewInput input) : state_(std::move(input.state)), lookup_(std::move(input.lookup)) {
    state_.start_limit = std::numeric_limits<std::uint32_t>::max();
    for (auto& dependent : input.dependents) after_[dependent.id] = std::move(dependent.after);
  }

  std::vector<PreviewEntry> run(std::size_t most_decisions) {
    std::size_t decisions = 0;
    while (!state_.waiting.empty() && (is_first_ || decisions + state_.waiting.size() <= most_decisions)) {
      decisions += state_.waiting.size();
      check_dependencies_again();
      // What starts or is given up may be what others wait for: they are looked at again before time goes on.
      if (!follow(plan(state_)) && !advance()) break;
    }
    return result();
  }

 private:
  void check_dependencies_again() {
    const auto known = [this](JobId id) {
      const auto found = known_.find(id);
      return found != known_.end() ? found->second : lookup_ ? lookup_(id) : KnownJob{};
    };
    for (auto& job : state_.waiting) {
      if (const auto after = after_.find(job.id); after != after_.end()) {
        job.dependency = check_dependencies(after->second, known);
      }
    }
  }

  bool follow(std::vector<PlanEntry> entries) {
    std::unordered_map<JobId, std::size_t> gone;  // the entry that says so
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].start || entries[i].reason == PendingReason::dependency_never_satisfied) gone[entries[i].id] = i;
    }
    std::unordered_map<JobId, const WaitingJob*> waiting;
    if (!gone.empty()) {
      for (const auto& job : state_.waiting) waiting.emplace(job.id, &job);
    }
    for (const auto& entry : entries) {
      if (entry.start) start(*waiting.at(entry.id));
      if (entry.reason == PendingReason::dependency_never_satisfied) {
        known_[entry.id] = {.phase = KnownJob::Phase::finished, .has_started = false, .result = JobResult::dependency};
      }
    }
    if (is_first_) note_reasons(std::move(entries));
    is_first_ = false;
    std::erase_if(state_.waiting, [&](const WaitingJob& job) { return gone.contains(job.id); });
    return !gone.empty();
  }

  void start(const WaitingJob& job) {
    started_.emplace_back(job.id, state_.now.real);
    known_[job.id] = {.phase = KnownJob::Phase::active, .has_started = true};
    state_.served.push_back({.id = job.id, .owner = job.owner, .started = state_.now.real});
    state_.running.push_back({.id = job.id,
                              .owner = job.owner,
                              .class_name = job.class_name,
                              .memory_claim = job.memory_claim,
                              .cores = job.cores,
                              .group = job.group,
                              .remaining = job.time_limit});
  }

  // To the next moment at which something ends or begins; false when there is none.
  bool advance() {
    std::optional<Microseconds> step;
    const auto consider = [&step](Microseconds time) { step = std::min(step.value_or(time), time); };
    for (const auto& job : state_.running) {
      if (job.remaining) consider(std::max(*job.remaining, Microseconds(0)));
    }
    for (const auto& job : state_.waiting) {
      if (job.begin && *job.begin > state_.now.real) consider(*job.begin - state_.now.real);
    }
    if (!step || *step > RealTime::max() - state_.now.real) return false;
    state_.now.real += *step;
    for (auto& job : state_.running) {
      if (!job.remaining) continue;
      *job.remaining -= *step;
      if (*job.remaining > Microseconds(0)) continue;
      known_[job.id] = {.phase = KnownJob::Phase::finished, .has_started = true, .result = JobResult::done};
    }
    std::erase_if(state_.running,
                  [](const RunningJob& job) { return job.remaining && *job.remaining <= Microseconds(0); });
    return true;
  }

  void note_reasons(std::vector<PlanEntry> entries) {
    for (auto& entry : entries) {
      reasons_.push_back({.id = entry.id, .reason = entry.reason, .detail = std::move(entry.detail)});
    }
  }

  std::vector<PreviewEntry> result() {
    std::unordered_map<JobId, std::size_t> places;
    for (std::size_t i = 0; i < reasons_.size(); ++i) places.emplace(reasons_[i].id, i);
    std::vector<PreviewEntry> entries;
    entries.reserve(reasons_.size());
    for (const auto& [id, time] : started_) {
      auto& entry = reasons_[places.at(id)];
      entry.start = time;
      entries.push_back(entry);
    }
    std::copy_if(reasons_.begin(), reasons_.end(), std::back_inserter(entries),
                 [](const PreviewEntry& entry) { return !entry.start; });
    return entries;
  }

  SchedulerInput state_;
  JobLookup lookup_;
  std::unordered_map<JobId, std::vector<Dependency>> after_;
  std::unordered_map<JobId, KnownJob> known_;  // what became of jobs since
  std::vector<PreviewEntry> reasons_;
  std::vector<std::pair<JobId, RealTime>> started_;
  bool is_first_ = true;
};

}  // namespace

std::vector<PreviewEntry> preview(PreviewInput input, std::size_t most_decisions) {
  return Rehearsal(std::move(input)).run(most_decisions);
}

}  // namespace mljobd::core
