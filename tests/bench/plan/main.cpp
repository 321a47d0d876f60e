// What one plan of the scheduler costs, by the length of the queue: `mljob-plan-bench`.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/scheduler.hpp"

namespace {

using namespace mljobd::core;

constexpr Bytes gibi = Bytes{1} << 30;
constexpr std::array<std::size_t, 3> queue_lengths{100, 1000, 10000};

const std::vector<JobClass>& classes() {
  static const std::vector<JobClass> configured{
      JobClass{.name = "train", .max_running = 2}, JobClass{.name = "validate", .max_running = 4},
      JobClass{.name = "batch"}, JobClass{.name = "interactive", .max_running = 8}};
  return configured;
}

const std::vector<std::string>& groups() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    made.reserve(40);
    for (int i = 0; i < 40; ++i) made.push_back("array " + std::to_string(i));
    return made;
  }();
  return names;
}

// Everything a queue can hold: users, priorities, classes, claims, limits, groups, dependencies, begin times.
void make_mixed(WaitingJob& job, std::mt19937& random) {
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  job.owner = 1000 + below(12);
  job.class_name = classes()[below(4)].name;
  job.priority = static_cast<std::int32_t>(below(5)) - 2;
  job.memory_claim = below(4) == 0 ? 0 : (1 + below(48)) * gibi;
  job.cores = below(3) == 0 ? 1 + below(8) : 0;
  if (below(2) == 0) job.time_limit = std::chrono::minutes(1 + below(600));
  if (below(5) == 0) {
    job.group = groups()[below(40)];
    job.group_limit = 4;
  }
  if (below(10) == 0) job.dependency = {DependencyStatus::pending, "waits for 41 to end well"};
  if (below(10) == 0) job.begin = RealTime(std::chrono::hours(24 * 365 * 56 + below(2400)));
}

// One user's sweep: all alike, all behind the first.
void make_sweep(WaitingJob& job, std::mt19937& /*random*/) {
  job.owner = 1000;
  job.class_name = "batch";
  job.memory_claim = 40 * gibi;
}

// Every job of another user: the order has as much to compare as there are jobs.
void make_crowd(WaitingJob& job, std::mt19937& random) {
  make_mixed(job, random);
  job.owner = job.id;
  job.priority = 0;
}

struct Workload {
  std::string_view name;
  void (*make)(WaitingJob&, std::mt19937&);
};
constexpr std::array workloads{Workload{"mixed", make_mixed}, Workload{"sweep", make_sweep},
                               Workload{"crowd", make_crowd}};

SchedulerInput make_input(const Workload& workload, std::size_t length) {
  std::mt19937 random(42);  // the same queue each time
  SchedulerInput input{.classes = classes(), .memory_capacity = 256 * gibi, .start_limit = 16, .core_capacity = 31};
  input.now.real = RealTime(std::chrono::hours(24 * 365 * 56));
  JobId id = 0;
  while (input.running.size() < 24) {
    input.running.push_back({.id = ++id,
                             .owner = 1000 + id % 12,
                             .class_name = "batch",
                             .memory_claim = 10 * gibi,
                             .cores = 1,
                             .remaining = std::chrono::minutes(10 * id)});
  }
  for (std::size_t i = 0; i < length; ++i) {
    WaitingJob job{.id = ++id, .submitted = input.now.real - std::chrono::hours(1) + Microseconds(id)};
    workload.make(job, random);
    input.waiting.push_back(job);
  }
  return input;
}

using Cost = std::chrono::duration<double, std::micro>;

// The median: what else the machine does meanwhile disturbs some runs, not most.
Cost cost_of(const SchedulerInput& input) {
  constexpr int runs = 101;
  std::vector<Cost> costs;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto entries = plan(input);
    costs.emplace_back(std::chrono::steady_clock::now() - begin);
    if (entries.size() != input.waiting.size()) std::abort();
  }
  std::nth_element(costs.begin(), costs.begin() + runs / 2, costs.end());
  return costs[runs / 2];
}

}  // namespace

int main() {
  std::cout << "One plan, median of 101. Linear: its cost by job, compared with that at " << queue_lengths.front()
            << " jobs.\n\n"
            << "QUEUE    JOBS     COST ms   BY JOB us   LINEAR x\n"
            << std::fixed;
  for (const auto& workload : workloads) {
    double first = 0;
    for (const auto length : queue_lengths) {
      const auto cost = cost_of(make_input(workload, length));
      const double by_job = cost.count() / static_cast<double>(length);
      if (length == queue_lengths.front()) first = by_job;
      std::cout << std::left << std::setw(8) << workload.name << std::right << std::setw(6) << length << std::setw(12)
                << std::setprecision(3) << cost.count() / 1000 << std::setw(12) << by_job << std::setw(11)
                << std::setprecision(2) << by_job / first << '\n';
    }
  }
  return 0;
}
