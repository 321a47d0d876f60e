// A machine of 2000 MiB whose memory a test sets as it likes, and the policy that looks at it.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/pressure_policy.hpp"
#include "pressure_fixture.hpp"

namespace mljobd::core::pressure_fixture {

class Bench {
 public:
  explicit Bench(const PressureSettings& settings = {}, const PressureState& state = {}) : policy(settings, state) {
    snapshot.machine = {.total = 2000 * mebibyte, .available = 1000 * mebibyte};
  }

  PressureJob& add(PressureJob added) { return snapshot.jobs.emplace_back(std::move(added)); }
  PressureJob& job(JobId id) {
    return *std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(), [id](const auto& j) { return j.id == id; });
  }
  void remove(JobId id) {
    std::erase_if(snapshot.jobs, [id](const auto& j) { return j.id == id; });
  }
  void available(Bytes mebibytes) { snapshot.machine.available = mebibytes * mebibyte; }
  void swap(Bytes total_mebibytes, Bytes free_mebibytes) {
    snapshot.machine.swap_total = total_mebibytes * mebibyte;
    snapshot.machine.swap_free = free_mebibytes * mebibyte;
  }
  // Standing still for want of memory, with the kernel looking through its pages.
  static void stall(PressureJob& job, Microseconds time, double some, double full) {
    const auto part = [&](double share) {
      return Microseconds(static_cast<std::int64_t>(share * static_cast<double>(time.count())));
    };
    job.memory.memory_stalls->some += part(some);
    job.memory.memory_stalls->full += part(full);
    job.memory.scanned_pages += 100;
  }

  PressureDecisions step() {
    snapshot.now = at(now_);
    auto made = policy.step(snapshot);
    all.insert(all.end(), made.begin(), made.end());
    return made;
  }
  using Change = std::function<void(Microseconds)>;
  // For so long, at the policy's own pace; what it decided meanwhile.
  PressureDecisions run(Microseconds time, const Change& change = [](Microseconds) {}) {
    PressureDecisions made;
    for (const Microseconds end = now_ + time; now_ < end;) {
      const auto interval = std::min(policy.next_step_after().value_or(seconds(1)), end - now_);
      now_ += interval;
      change(interval);
      auto some = step();
      made.insert(made.end(), some.begin(), some.end());
    }
    return made;
  }
  void pass(Microseconds time) { now_ += time; }
  [[nodiscard]] Microseconds now() const { return now_; }

  PressureSnapshot snapshot{};
  PressurePolicy policy;
  PressureDecisions all{};

 private:
  Microseconds now_{0};
};

template <class Action>
std::vector<Decision> only(const PressureDecisions& decisions) {
  std::vector<Decision> found;
  std::copy_if(decisions.begin(), decisions.end(), std::back_inserter(found),
               [](const Decision& d) { return std::holds_alternative<Action>(d.action); });
  return found;
}

template <class Action>
std::vector<JobId> jobs_of(const PressureDecisions& decisions) {
  std::vector<JobId> ids;
  for (const auto& decision : only<Action>(decisions)) ids.push_back(decision.job);
  return ids;
}

// Whatever changes something for a job.
inline std::size_t acts(const PressureDecisions& decisions) {
  return static_cast<std::size_t>(std::count_if(decisions.begin(), decisions.end(), [](const Decision& d) {
    return !std::holds_alternative<LevelChanged>(d.action) && !std::holds_alternative<Notice>(d.action) &&
           !std::holds_alternative<Freed>(d.action);
  }));
}

inline std::vector<PressureRule> notices(const PressureDecisions& decisions) {
  std::vector<PressureRule> rules;
  for (const auto& decision : only<Notice>(decisions)) rules.push_back(decision.rule);
  return rules;
}

}  // namespace mljobd::core::pressure_fixture
