// What must hold whatever is queued: thousands of small workloads, streams that could starve somebody, and a long
// trace.
#include <algorithm>
#include <iostream>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "scheduler_simulator.hpp"

using namespace mljobd::core;
using namespace mljobd::core::simulation;

namespace {

constexpr Bytes gibi = Bytes{1} << 30;

// A machine that is never empty: whenever a job ends, others of the same size are queued.
class Stream {
 public:
  explicit Stream(std::uint64_t seed) : random_(seed) {
    input_.classes = classes();
    input_.memory_capacity = 16 * gibi;
    input_.core_capacity = 4;
    input_.start_limit = 1000;
    for (int i = 0; i < 40; ++i) arrive();
    plan_and_start();
  }

  // How many jobs end before this one starts; at most `patience` are waited for.
  int endings_until_start_of(WaitingJob job, int patience) {
    job.id = ++last_id_;
    job.owner = user_of(job.id);
    job.submitted = time();
    input_.waiting.push_back(job);
    int endings = 0;
    while (!plan_and_start(job.id) && endings < patience) {
      end_one();
      ++endings;
      for (int i = 0; i < 3; ++i) arrive();
    }
    return endings;
  }

  Random& random() { return random_; }

 private:
  static std::span<const JobClass> classes() {
    static const std::vector<JobClass> configured{JobClass{.name = "train", .max_running = 2},
                                                  JobClass{.name = "batch"}};
    return configured;
  }

  static UserId user_of(JobId id) { return 1000 + id % 4; }
  [[nodiscard]] RealTime time() const { return epoch + std::chrono::seconds(last_id_); }

  // Small ones of every kind, some of which pass those that wait for something they do not need.
  void arrive() {
    WaitingJob job{.id = ++last_id_};
    job.owner = user_of(static_cast<JobId>(random_.below(1000)));
    job.class_name = random_.one_in(4) ? "train" : "batch";
    job.submitted = time();
    if (!random_.one_in(3)) job.memory_claim = (1 + random_.below(3)) * gibi;
    if (!random_.one_in(3)) job.cores = 1;
    if (job.memory_claim == 0 && job.cores == 0) job.cores = 1;
    if (random_.one_in(3)) job.time_limit = std::chrono::seconds(1 + random_.below(5));
    input_.waiting.push_back(job);
  }

  // The one that runs longest: none runs for ever.
  void end_one() {
    if (input_.running.empty()) return;
    input_.running.erase(input_.running.begin());
  }

  bool plan_and_start(JobId awaited = 0) {
    bool started = false;
    for (const auto& entry : plan(input_)) {
      if (!entry.start) continue;
      const auto job = std::find_if(input_.waiting.begin(), input_.waiting.end(),
                                    [&](const WaitingJob& waiting) { return waiting.id == entry.id; });
      input_.running.push_back(
          {job->id, job->owner, job->class_name, job->memory_claim, job->cores, {}, job->time_limit});
      input_.waiting.erase(job);
      started = started || entry.id == awaited;
      input_.served.push_back({entry.id, input_.running.back().owner, epoch + std::chrono::seconds(++turns_)});
    }
    if (input_.served.size() > 200) input_.served.erase(input_.served.begin(), input_.served.end() - 100);
    // A queue as long as it gets on a busy machine.
    while (input_.waiting.size() > 80) forget_newest(awaited);
    return started;
  }

  void forget_newest(JobId awaited) {
    const auto newest = std::max_element(
        input_.waiting.begin(), input_.waiting.end(), [&](const WaitingJob& left, const WaitingJob& right) {
          return std::pair(left.id != awaited, left.id) < std::pair(right.id != awaited, right.id);
        });
    input_.waiting.erase(newest);
  }

  Random random_;
  SchedulerInput input_;
  JobId last_id_ = 0;
  int turns_ = 0;
};

}  // namespace

TEST_CASE("ten thousand random workloads: bounds hold, nothing starts early, everybody is served") {
  std::size_t started = 0;
  std::size_t plans = 0;
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    const auto workload = random_workload(seed);
    Simulator simulator(workload);
    if (const auto violation = simulator.run()) FAIL(*violation << "\n" << describe(workload));
    started += simulator.started();
    plans += simulator.plans();
  }
  // The cases are worth something: most jobs ran, and most had to wait before.
  CHECK(started > 80'000);
  CHECK(plans > started);
}

TEST_CASE("no stream of small jobs starves a job that fits the machine") {
  // As many as the queue holds, those that run, and once more for each resource it collects.
  constexpr int most_endings = 150;
  int longest = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Stream stream(seed);
    WaitingJob job{.class_name = stream.random().one_in(2) ? "train" : "batch"};
    job.memory_claim = (4 + stream.random().below(13)) * gibi;
    job.cores = stream.random().below32(5);
    if (stream.random().one_in(2)) {
      job.group = "train of alice";
      job.group_limit = 1;
    }
    const int endings = stream.endings_until_start_of(job, 1000);
    INFO("seed " << seed << ": " << job.class_name << ", " << job.memory_claim / gibi << "G, " << job.cores
                 << " cores");
    REQUIRE(endings <= most_endings);
    longest = std::max(longest, endings);
  }
  // It had to wait for others at all.
  CHECK(longest > 20);
}

namespace {

double in_seconds(Microseconds time) { return std::chrono::duration<double>(time).count(); }

// No order of the jobs can be faster: the area of the claims in a machine of this size, the places of the classes, the
// last arrival.
double least_makespan(const Workload& workload) {
  double memory = 0;
  double cores = 0;
  double latest = 0;
  std::map<std::string_view, double> by_class;
  for (const auto& [job, arrives, runs_for, released, result, after] : workload.jobs) {
    memory += in_seconds(runs_for) * static_cast<double>(job.memory_claim);
    cores += in_seconds(runs_for) * job.cores;
    latest = std::max(latest, in_seconds(arrives + runs_for));
    by_class[job.class_name] += in_seconds(runs_for);
  }
  double least = std::max({memory / static_cast<double>(workload.memory), cores / workload.cores, latest});
  for (const auto& job_class : workload.classes) {
    if (job_class.max_running > 0) least = std::max(least, by_class[job_class.name] / job_class.max_running);
  }
  return least;
}

}  // namespace

TEST_CASE("a trace of five thousand jobs keeps every property and uses the machine") {
  const auto workload = trace(20260712, 5000);
  Simulator simulator(workload, 50);
  if (const auto violation = simulator.run()) FAIL(*violation << " (seed " << workload.seed << ")");
  const double ratio = in_seconds(simulator.makespan()) / least_makespan(workload);
  std::cout << "trace: " << simulator.started() << " jobs in " << simulator.plans() << " plans, makespan "
            << in_seconds(simulator.makespan()) / 3600 << " h, " << ratio << " times the lower bound\n";
  CHECK(simulator.started() > 4000);
  CHECK(ratio >= 1);
  CHECK(ratio < 1.5);
}
