#include "core/scheduler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <limits>
#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

using namespace mljobd::core;

namespace {

constexpr Bytes gibi = Bytes{1} << 30;

RealTime at(std::int64_t second) { return RealTime(std::chrono::seconds(second)); }

const std::vector<JobClass>& classes() {
  static const std::vector<JobClass> configured{JobClass{.name = "train", .max_running = 1},
                                                JobClass{.name = "validate", .max_running = 2},
                                                JobClass{.name = "batch"}};
  return configured;
}

WaitingJob waiting(JobId id, std::string_view class_name, Bytes claim, std::int32_t priority = 0) {
  return {.id = id, .class_name = class_name, .priority = priority, .memory_claim = claim, .submitted = at(id)};
}

SchedulerInput input(std::vector<WaitingJob> waiting_jobs, std::vector<RunningJob> running = {}) {
  return {.waiting = std::move(waiting_jobs),
          .running = std::move(running),
          .classes = classes(),
          .memory_capacity = 16 * gibi,
          .draining = false,
          .start_limit = 1000};
}

PlanEntry starts(JobId id) { return {.id = id, .start = true}; }
PlanEntry waits(JobId id, PendingReason reason, std::string detail = "") {
  return {.id = id, .start = false, .reason = reason, .detail = std::move(detail)};
}
using Plan = std::vector<PlanEntry>;

}  // namespace

namespace Catch {
template <>
struct StringMaker<PlanEntry> {
  static std::string convert(const PlanEntry& entry) {
    return std::to_string(entry.id) + (entry.start ? " starts" : " waits: ") + std::string(to_word(entry.reason)) +
           " (" + entry.detail + ")";
  }
};
}  // namespace Catch

TEST_CASE("an empty queue has an empty plan") { CHECK(plan(input({})).empty()); }

TEST_CASE("jobs are served by priority, then time, then id") {
  auto first = waiting(9, "batch", 0);
  auto second = waiting(3, "batch", 0);
  first.submitted = second.submitted = at(5);
  auto early = waiting(20, "batch", 0);
  early.submitted = at(1);
  const auto entries = plan(input({first, waiting(30, "batch", 0, 5), second, waiting(1, "batch", 0, -5), early}));
  CHECK(entries == Plan{starts(30), starts(20), starts(3), starts(9), starts(1)});
}

TEST_CASE("a full class holds up only itself") {
  const auto entries = plan(input({waiting(1, "train", gibi), waiting(2, "train", gibi), waiting(3, "validate", gibi),
                                   waiting(4, "validate", gibi), waiting(5, "batch", gibi)},
                                  {{.id = 40, .class_name = "validate", .memory_claim = gibi}}));
  CHECK(entries == Plan{starts(1), waits(2, PendingReason::job_class, "1 of 1 train job is running"), starts(3),
                        waits(4, PendingReason::job_class, "2 of 2 validate jobs are running"), starts(5)});
}

TEST_CASE("a job of a class that is gone waits and says so") {
  CHECK(plan(input({waiting(1, "gone", gibi), waiting(2, "batch", gibi)})) ==
        Plan{waits(1, PendingReason::job_class, "class gone is no longer configured"), starts(2)});
}

TEST_CASE("a job that waits for memory keeps what is free") {
  const auto entries = plan(input({waiting(1, "batch", 12 * gibi), waiting(2, "batch", gibi), waiting(3, "batch", 0)},
                                  {{.id = 41, .class_name = "batch", .memory_claim = 13 * gibi}}));
  CHECK(entries == Plan{waits(1, PendingReason::resources_memory, "needs 12.0G, 3.0G free, waits for 41"),
                        waits(2, PendingReason::priority, "behind job 1, which waits for memory"), starts(3)});
}

TEST_CASE("what this plan starts is in the way of the rest of it") {
  CHECK(plan(input({waiting(1, "batch", 10 * gibi), waiting(2, "batch", 10 * gibi)})) ==
        Plan{starts(1), waits(2, PendingReason::resources_memory, "needs 10.0G, 6.0G free, waits for 1")});
  CHECK(plan(input({waiting(1, "batch", 10 * gibi), waiting(2, "batch", 6 * gibi)})) == Plan{starts(1), starts(2)});
}

TEST_CASE("the jobs in the way are the largest, three by name") {
  std::vector<RunningJob> running;
  for (JobId id = 41; id <= 56; ++id) running.push_back({.id = id, .class_name = "batch", .memory_claim = gibi});
  CHECK(plan(input({waiting(1, "batch", 2 * gibi)}, running)).front().detail ==
        "needs 2.0G, 0B free, waits for 41, 42");
  CHECK(plan(input({waiting(1, "batch", 5 * gibi)}, running)).front().detail ==
        "needs 5.0G, 0B free, waits for 41, 42, 43 and 2 more");
  running.resize(4);
  running.push_back({.id = 99, .class_name = "batch", .memory_claim = 12 * gibi});
  CHECK(plan(input({waiting(1, "batch", 5 * gibi)}, running)).front().detail == "needs 5.0G, 0B free, waits for 99");
}

TEST_CASE("a claim that no longer fits the machine stops nobody else") {
  CHECK(plan(input({waiting(1, "batch", 17 * gibi), waiting(2, "batch", 16 * gibi)})) ==
        Plan{waits(1, PendingReason::resources_memory, "needs 17.0G, but jobs on this machine may use 16.0G in all"),
             starts(2)});
  CHECK_FALSE(plan(input({waiting(1, "batch", unlimited)})).front().start);
}

TEST_CASE("claims above a capacity that was lowered are no free memory") {
  const auto entries =
      plan(input({waiting(1, "batch", gibi)}, {{.id = 41, .class_name = "batch", .memory_claim = 17 * gibi},
                                               {.id = 42, .class_name = "batch", .memory_claim = 20 * gibi}}));
  CHECK(entries == Plan{waits(1, PendingReason::resources_memory, "needs 1.0G, 0B free, waits for 42, 41")});
  // Their sum does not wrap around to a small number either.
  const RunningJob huge{.id = 41, .class_name = "batch", .memory_claim = unlimited};
  CHECK_FALSE(plan(input({waiting(1, "batch", gibi)}, {huge, huge})).front().start);
}

TEST_CASE("held jobs and a draining daemon start nothing") {
  auto held = waiting(1, "batch", 16 * gibi);
  held.held = true;
  CHECK(plan(input({held, waiting(2, "batch", gibi)})) == Plan{waits(1, PendingReason::held), starts(2)});
  auto draining = input({held, waiting(2, "batch", gibi)});
  draining.draining = true;
  CHECK(plan(draining) == Plan{waits(1, PendingReason::held), waits(2, PendingReason::draining)});
}

TEST_CASE("a job that only the number of starts keeps back has its place") {
  auto bounded = input({waiting(1, "batch", 8 * gibi), waiting(2, "batch", 8 * gibi), waiting(3, "batch", gibi)});
  bounded.start_limit = 1;
  CHECK(plan(bounded) == Plan{starts(1), waits(2, PendingReason::none),
                              waits(3, PendingReason::resources_memory, "needs 1.0G, 0B free, waits for 1")});
  bounded.start_limit = 0;
  CHECK_FALSE(plan(bounded).front().start);
}

TEST_CASE("small jobs of its class do not take the place of one that waits for memory") {
  const auto entries = plan(input({waiting(1, "train", 12 * gibi), waiting(2, "train", 0), waiting(3, "validate", 0)},
                                  {{.id = 41, .class_name = "batch", .memory_claim = 13 * gibi}}));
  CHECK(entries == Plan{waits(1, PendingReason::resources_memory, "needs 12.0G, 3.0G free, waits for 41"),
                        waits(2, PendingReason::priority, "behind job 1, which waits for memory"), starts(3)});
}

namespace {

// A machine that runs what the plans start: jobs arrive and end at random, and every plan is checked.
class Night {
 public:
  explicit Night(std::uint32_t seed) : random_(seed) {}

  void arrive() {
    static constexpr std::array<std::string_view, 3> names{"train", "validate", "batch"};
    const Bytes claim = below(4) == 0 ? 0 : (1 + below(16)) * gibi;
    queue_.push_back(waiting(++last_id_, names[below(3)], claim));
    queue_.back().priority = priorities_ ? static_cast<std::int32_t>(below(3)) - 1 : 0;
  }

  void end_one() {
    if (running_.empty()) return;
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(below(running_.size())));
  }

  void start() {
    auto state = input(queue_, running_);
    state.start_limit = 1 + static_cast<std::uint32_t>(below(4));
    const auto entries = plan(state);
    REQUIRE(entries.size() == queue_.size());
    REQUIRE(entries == plan(state));
    for (const auto& entry : entries) {
      if (entry.start) start(entry.id);
    }
    check_bounds();
  }

  [[nodiscard]] bool idle() const { return queue_.empty() && running_.empty(); }
  [[nodiscard]] const std::vector<WaitingJob>& queue() const { return queue_; }
  [[nodiscard]] const std::vector<JobId>& order_of(std::string_view class_name) { return starts_[class_name]; }
  void use_priorities() { priorities_ = true; }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  void start(JobId id) {
    const auto job = std::find_if(queue_.begin(), queue_.end(), [&](const WaitingJob& w) { return w.id == id; });
    REQUIRE(job != queue_.end());
    running_.push_back({job->id, job->owner, job->class_name, job->memory_claim});
    if (job->memory_claim > 0) starts_[job->class_name].push_back(id);
    queue_.erase(job);
  }

  void check_bounds() const {
    Bytes claimed = 0;
    std::map<std::string_view, std::uint32_t> count;
    for (const auto& job : running_) {
      claimed += job.memory_claim;
      ++count[job.class_name];
    }
    REQUIRE(claimed <= 16 * gibi);
    REQUIRE(count["train"] <= 1);
    REQUIRE(count["validate"] <= 2);
  }

  std::mt19937 random_;
  bool priorities_ = false;
  JobId last_id_ = 0;
  std::vector<WaitingJob> queue_;
  std::vector<RunningJob> running_;
  std::map<std::string_view, std::vector<JobId>> starts_;
};

}  // namespace

TEST_CASE("whatever arrives and ends, bounds hold, order holds and everybody is served") {
  Night night(GENERATE(range(1U, 31U)));
  const bool priorities = GENERATE(false, true);
  if (priorities) night.use_priorities();
  for (int step = 0; step < 300; ++step) {
    if (night.below(2) == 0) night.arrive();
    if (night.below(3) == 0) night.end_one();
    night.start();
  }
  // Nothing arrives any more: as long as jobs end, the queue empties.
  for (int step = 0; step < 2000 && !night.idle(); ++step) {
    night.end_one();
    night.start();
  }
  CHECK(night.idle());
  if (!priorities) {
    for (const auto* name : {"train", "validate", "batch"}) {
      const auto& order = night.order_of(name);
      CHECK(std::is_sorted(order.begin(), order.end()));
    }
  }
}

TEST_CASE("a large job is not starved by a stream of small ones") {
  Night night(GENERATE(range(1U, 11U)));
  for (int i = 0; i < 20; ++i) night.arrive();
  const JobId newest = night.queue().back().id;
  int steps = 0;
  const auto still_waits = [&] {
    const auto& queue = night.queue();
    return std::any_of(queue.begin(), queue.end(), [&](const WaitingJob& job) { return job.id <= newest; });
  };
  // More arrives than ends, for ever; those that came before are served all the same.
  for (; still_waits() && steps < 1000; ++steps) {
    night.arrive();
    night.arrive();
    night.end_one();
    night.start();
  }
  CHECK(steps < 1000);
}

TEST_CASE("ten thousand waiting jobs are planned in near-linear time") {
  // Processor time: whatever else the machine does meanwhile does not count.
  const auto time_of = [](JobId count) {
    std::vector<WaitingJob> queue;
    for (JobId id = 1; id <= count; ++id) queue.push_back(waiting(id, id % 2 == 0 ? "train" : "batch", 2 * gibi));
    std::vector<RunningJob> running;
    for (JobId id = 1; id <= count / 10; ++id) running.push_back({.id = id, .class_name = "batch"});
    const auto state = input(queue, running);
    std::clock_t best = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 10; ++i) {
      const auto begin = std::clock();
      const auto entries = plan(state);
      best = std::min(best, std::clock() - begin);
      REQUIRE(entries.size() == count);
    }
    return best;
  };
  // 10 times the jobs: 10 times the time and the logarithm; a quadratic plan would take 100 times.
  CHECK(time_of(20000) < 50 * time_of(2000));
}
