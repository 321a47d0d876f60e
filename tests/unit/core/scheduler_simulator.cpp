#include "scheduler_simulator.hpp"

#include <algorithm>
#include <set>

#include "scheduler_checks.hpp"

namespace mljobd::core::simulation {

namespace {

constexpr std::size_t remembered_turns = 100;

}  // namespace

Simulator::Simulator(const Workload& workload, std::uint64_t shuffle_one_in)
    : workload_(workload), random_(workload.seed), shuffle_one_in_(shuffle_one_in), records_(workload.jobs.size()) {}

KnownJob Simulator::known(JobId id) const {
  if (id > records_.size()) return {};
  const auto& record = records_[id - 1];
  KnownJob job{.phase = KnownJob::Phase::waiting, .has_started = record.has_started, .result = record.result};
  if (record.phase == Phase::running) job.phase = KnownJob::Phase::active;
  if (record.phase == Phase::finished) job.phase = KnownJob::Phase::finished;
  return job;
}

std::optional<Microseconds> Simulator::next_event() const {
  std::optional<Microseconds> next;
  const auto consider = [&](Microseconds time) {
    if (time > now_ && time != for_ever && (!next || time < *next)) next = time;
  };
  if (arrived_ < workload_.jobs.size()) consider(workload_.jobs[arrived_].arrives);
  for (const auto id : running_) consider(ends(id));
  for (const auto id : waiting_) {
    consider(simulated(id).released);
    if (const auto begin = simulated(id).job.begin) consider(*begin - epoch);
  }
  return next;
}

void Simulator::arrive_and_end() {
  for (const auto id : running_) {
    if (ends(id) > now_) continue;
    records_[id - 1].phase = Phase::finished;
    records_[id - 1].result = simulated(id).result;
    ended_.push_back(id);
  }
  std::erase_if(running_, [this](JobId id) { return records_[id - 1].phase == Phase::finished; });
  for (; arrived_ < workload_.jobs.size() && workload_.jobs[arrived_].arrives <= now_; ++arrived_) {
    waiting_.push_back(static_cast<JobId>(arrived_ + 1));
    records_[arrived_].phase = Phase::waiting;
  }
}

SchedulerInput Simulator::input() const {
  SchedulerInput input{.classes = workload_.classes,
                       .memory_capacity = workload_.memory,
                       .start_limit = workload_.start_limit,
                       .core_capacity = workload_.cores};
  input.now.real = epoch + now_;
  for (const auto id : waiting_) {
    auto job = simulated(id).job;
    job.submitted = epoch + simulated(id).arrives;
    job.held = simulated(id).released > now_;
    job.dependency = check_dependencies(simulated(id).after, [this](JobId other) { return known(other); });
    input.waiting.push_back(job);
  }
  const auto turn = [this](JobId id) {
    return ServedJob{.id = id, .owner = simulated(id).job.owner, .started = epoch + records_[id - 1].started};
  };
  for (const auto id : running_) {
    const auto& job = simulated(id).job;
    std::optional<Microseconds> remaining;
    if (job.time_limit) remaining = records_[id - 1].started + *job.time_limit - now_;
    input.running.push_back({id, job.owner, job.class_name, job.memory_claim, job.cores, job.group, remaining});
    input.served.push_back(turn(id));
  }
  const auto remembered = std::min(ended_.size(), remembered_turns);
  for (auto id = ended_.end() - static_cast<std::ptrdiff_t>(remembered); id != ended_.end(); ++id) {
    input.served.push_back(turn(*id));
  }
  return input;
}

void Simulator::violate(JobId id, const std::string& what) {
  if (!violation_) violation_ = "job " + std::to_string(id) + " " + what;
}

void Simulator::check(const SchedulerInput& input, const std::vector<PlanEntry>& entries) {
  if (const auto complaint = check_plan(input, entries)) violation_ = complaint;
  for (const auto& entry : entries) {
    // The rule once more, as the contract has it, for what check_dependencies said.
    if (!entry.start) continue;
    for (const auto& dependency : simulated(entry.id).after) {
      const auto other = known(dependency.job);
      const bool ended = other.phase == KnownJob::Phase::finished;
      const bool well = other.result == JobResult::done;
      const bool open = (dependency.kind == DependencyKind::start && !other.has_started) ||
                        (dependency.kind != DependencyKind::start && !ended) ||
                        (dependency.kind == DependencyKind::ok && !well) ||
                        (dependency.kind == DependencyKind::notok && well);
      if (open) violate(entry.id, "starts before " + std::to_string(dependency.job));
    }
  }
  if (random_.below(shuffle_one_in_) != 0) return;
  auto shuffled = input;
  std::shuffle(shuffled.waiting.begin(), shuffled.waiting.end(), random_.engine());
  std::shuffle(shuffled.running.begin(), shuffled.running.end(), random_.engine());
  std::shuffle(shuffled.served.begin(), shuffled.served.end(), random_.engine());
  if (plan(shuffled) != entries) violation_ = "the plan depends on the order in which the jobs are listed";
}

bool Simulator::plan_once() {
  const auto state = input();
  last_plan_ = plan(state);
  ++plans_;
  check(state, last_plan_);
  bool again = false;
  std::set<JobId> gone;
  for (const auto& entry : last_plan_) {
    auto& record = records_[entry.id - 1];
    if (entry.start) {
      record = {.phase = Phase::running, .has_started = true, .started = now_};
      running_.push_back(entry.id);
      ++started_;
    } else if (entry.reason == PendingReason::dependency_never_satisfied) {
      record.phase = Phase::finished;
      record.result = JobResult::dependency;
    } else {
      continue;
    }
    // Others may wait for it to start or to end, and a plan starts only so many.
    again = true;
    gone.insert(entry.id);
  }
  std::erase_if(waiting_, [&](JobId id) { return gone.contains(id); });
  return again;
}

// Nothing will happen any more. Who still waits must be one that can never run, or wait for such a one.
void Simulator::check_end(const std::vector<PlanEntry>& entries) {
  for (const auto& entry : entries) {
    const auto& job = simulated(entry.id).job;
    const bool can_never_run = (entry.reason == PendingReason::held && simulated(entry.id).released == for_ever) ||
                               job.memory_claim > workload_.memory || job.cores > workload_.cores ||
                               entry.reason == PendingReason::dependency;
    if (!can_never_run) violate(entry.id, "is never started: " + std::string(to_word(entry.reason)));
  }
}

std::optional<std::string> Simulator::run() {
  for (;;) {
    arrive_and_end();
    while (plan_once()) {
      if (violation_) return violation_;
    }
    if (violation_) return violation_;
    const auto next = next_event();
    if (!next) break;
    now_ = *next;
  }
  check_end(last_plan_);
  return violation_;
}

}  // namespace mljobd::core::simulation
