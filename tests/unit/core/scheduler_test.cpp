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

// A machine of four cores that jobs may reserve.
SchedulerInput with_cores(std::vector<WaitingJob> waiting_jobs, std::vector<RunningJob> running = {}) {
  auto state = input(std::move(waiting_jobs), std::move(running));
  state.core_capacity = 4;
  return state;
}

WaitingJob reserving(JobId id, std::uint32_t cores, Bytes claim = 0) {
  auto job = waiting(id, "batch", claim);
  job.cores = cores;
  return job;
}

WaitingJob limited(WaitingJob job, Microseconds limit) {
  job.time_limit = limit;
  return job;
}

WaitingJob owned(WaitingJob job, UserId owner) {
  job.owner = owner;
  return job;
}

RunningJob runs(JobId id, Bytes claim, std::uint32_t cores = 0, std::optional<Microseconds> remaining = std::nullopt) {
  return {.id = id, .class_name = "batch", .memory_claim = claim, .cores = cores, .remaining = remaining};
}

std::vector<JobId> order_of(const Plan& entries) {
  std::vector<JobId> ids;
  for (const auto& entry : entries) ids.push_back(entry.id);
  return ids;
}

using std::chrono::minutes;

}  // namespace

TEST_CASE("a job that waits for cores keeps those that are free, and others pass") {
  const auto entries =
      plan(with_cores({reserving(1, 3), reserving(2, 1), reserving(3, 0, gibi)}, {runs(41, 0, 1), runs(42, 0, 2)}));
  CHECK(entries == Plan{waits(1, PendingReason::resources_cpus, "needs 3 cores, 1 free, waits for 42"),
                        waits(2, PendingReason::priority, "behind job 1, which waits for cpus"), starts(3)});
  CHECK(plan(with_cores({reserving(1, 1)}, {runs(41, 0, 4)})) ==
        Plan{waits(1, PendingReason::resources_cpus, "needs 1 core, 0 free, waits for 41")});
}

TEST_CASE("cores that no longer exist stop nobody else") {
  CHECK(plan(with_cores({reserving(1, 5), reserving(2, 4)})) ==
        Plan{waits(1, PendingReason::resources_cpus, "needs 5 cores, but jobs on this machine may use 4 in all"),
             starts(2)});
  // Lowered under a running job.
  CHECK(plan(with_cores({reserving(1, 4)}, {runs(41, 0, 8)})) ==
        Plan{waits(1, PendingReason::resources_cpus, "needs 4 cores, 0 free, waits for 41")});
}

TEST_CASE("one job waits for memory and another for cores, each keeping what it waits for") {
  const auto entries = plan(with_cores({reserving(1, 0, 12 * gibi), reserving(2, 3), reserving(3, 1),
                                        reserving(4, 0, gibi), reserving(5, 1, gibi), reserving(6, 0)},
                                       {runs(41, 13 * gibi, 2)}));
  CHECK(entries == Plan{waits(1, PendingReason::resources_memory, "needs 12.0G, 3.0G free, waits for 41"),
                        waits(2, PendingReason::resources_cpus, "needs 3 cores, 2 free, waits for 41"),
                        waits(3, PendingReason::priority, "behind job 2, which waits for cpus"),
                        waits(4, PendingReason::priority, "behind job 1, which waits for memory"),
                        waits(5, PendingReason::priority, "behind job 1, which waits for memory"), starts(6)});
}

TEST_CASE("a job that lacks both says so and keeps both") {
  const auto entries =
      plan(with_cores({reserving(1, 3, 12 * gibi), reserving(2, 1), reserving(3, 0, gibi)}, {runs(41, 13 * gibi, 2)}));
  CHECK(entries == Plan{waits(1, PendingReason::resources_memory,
                              "needs 12.0G, 3.0G free, waits for 41; needs 3 cores, 2 free, waits for 41"),
                        waits(2, PendingReason::priority, "behind job 1, which waits for cpus"),
                        waits(3, PendingReason::priority, "behind job 1, which waits for memory")});
}

TEST_CASE("jobs that need no memory pass one that only waits for memory, though it will need cores") {
  CHECK(plan(with_cores({reserving(1, 4, 12 * gibi), reserving(2, 4)}, {runs(41, 13 * gibi)})) ==
        Plan{waits(1, PendingReason::resources_memory, "needs 12.0G, 3.0G free, waits for 41"), starts(2)});
}

TEST_CASE("a job that waits for cores does not lose the memory it waited for before") {
  CHECK(plan(with_cores({reserving(1, 2, 12 * gibi), reserving(2, 0, 8 * gibi), reserving(3, 0, 4 * gibi)},
                        {runs(41, 0, 4)})) ==
        Plan{waits(1, PendingReason::resources_cpus, "needs 2 cores, 0 free, waits for 41"),
             waits(2, PendingReason::resources_memory, "needs 8.0G, 4.0G free, waits for 1"),
             waits(3, PendingReason::priority, "behind job 2, which waits for memory")});
}

TEST_CASE("a job slips in where its time limit ends before the first one could start") {
  const auto queue = [](Microseconds limit) {
    return std::vector{waiting(1, "batch", 12 * gibi), limited(waiting(2, "batch", 2 * gibi), limit)};
  };
  const std::vector timed{runs(41, 5 * gibi, 0, minutes(30)), runs(42, 8 * gibi, 0, minutes(60))};
  const auto head = waits(1, PendingReason::resources_memory, "needs 12.0G, 3.0G free, waits for 42, 41");
  const auto behind = waits(2, PendingReason::priority, "behind job 1, which waits for memory");
  // Both have to end before 12G are free.
  CHECK(plan(input(queue(minutes(60)), timed)) == Plan{head, starts(2)});
  CHECK(plan(input(queue(minutes(61)), timed)) == Plan{head, behind});
  CHECK(plan(input({waiting(1, "batch", 12 * gibi), waiting(2, "batch", 2 * gibi)}, timed)) == Plan{head, behind});
  // Nobody knows when the larger one ends.
  CHECK(plan(input(queue(minutes(1)), {timed[0], runs(42, 8 * gibi)})) == Plan{head, behind});
  // It fits only beside what the first one could have, never beyond what is free.
  auto large = queue(minutes(1));
  large[1].memory_claim = 4 * gibi;
  CHECK(plan(input(large, timed)) == Plan{head, behind});
}

TEST_CASE("a job that could wait for the smaller part of what runs is not kept waiting for the rest") {
  // 8G are free after half an hour, whoever holds the other 8G for ever.
  const std::vector running{runs(41, 8 * gibi), runs(42, 6 * gibi, 0, minutes(30))};
  const auto starts_with = [&](Microseconds limit) {
    return plan(input({waiting(1, "batch", 8 * gibi), limited(waiting(2, "batch", gibi), limit)}, running))[1].start;
  };
  CHECK(starts_with(minutes(30)));
  CHECK_FALSE(starts_with(minutes(31)));
}

TEST_CASE("a job slips in only where none of the first ones is delayed") {
  auto small = limited(reserving(3, 1, gibi), minutes(20));
  const auto third = [&](Microseconds memory_free, Microseconds cores_free) {
    return plan(with_cores({reserving(1, 0, 12 * gibi), reserving(2, 3), small},
                           {runs(41, 13 * gibi, 0, memory_free), runs(42, 0, 2, cores_free)}))[2];
  };
  CHECK(third(minutes(20), minutes(20)) == starts(3));
  CHECK(third(minutes(20), minutes(19)) == waits(3, PendingReason::priority, "behind job 1, which waits for memory"));
  CHECK(third(minutes(19), minutes(20)) == waits(3, PendingReason::priority, "behind job 1, which waits for memory"));
}

TEST_CASE("several jobs slip in as long as there is room, an overdue one frees at once") {
  CHECK(plan(input({waiting(1, "batch", 12 * gibi), limited(waiting(2, "batch", 2 * gibi), minutes(5)),
                    limited(waiting(3, "batch", 2 * gibi), minutes(5)), limited(waiting(4, "batch", gibi), minutes(5))},
                   {runs(41, 13 * gibi, 0, minutes(10))})) ==
        Plan{waits(1, PendingReason::resources_memory, "needs 12.0G, 3.0G free, waits for 41"), starts(2),
             waits(3, PendingReason::priority, "behind job 1, which waits for memory"), starts(4)});
  CHECK_FALSE(plan(input({waiting(1, "batch", 12 * gibi), limited(waiting(2, "batch", gibi), minutes(1))},
                         {runs(41, 13 * gibi, 0, minutes(-10))}))[1]
                  .start);
}

TEST_CASE("a job whose time has not come keeps nothing") {
  auto later = waiting(1, "train", 16 * gibi, 9);
  later.begin = at(1'783'825'500);
  auto state = input({later, waiting(2, "train", 16 * gibi)});
  state.now.real = *later.begin - Microseconds(1);
  CHECK(plan(state) == Plan{waits(1, PendingReason::begin_time, "until 2026-07-12 03:05:00 UTC"), starts(2)});
  state.now.real = *later.begin;
  CHECK(plan(state).front() == starts(1));
}

TEST_CASE("a job whose dependencies are open keeps nothing, one whose are lost is given up") {
  auto pending = waiting(1, "train", 16 * gibi);
  pending.dependency = {DependencyStatus::pending, "waits for 41 to end well"};
  auto lost = waiting(2, "train", 16 * gibi);
  lost.dependency = {DependencyStatus::never, "job 40 ended as failed, not well"};
  auto state = input({pending, lost, waiting(3, "train", 16 * gibi)});
  const auto given_up = waits(2, PendingReason::dependency_never_satisfied, "job 40 ended as failed, not well");
  CHECK(plan(state) == Plan{waits(1, PendingReason::dependency, "waits for 41 to end well"), given_up, starts(3)});
  state.draining = true;
  CHECK(plan(state) == Plan{waits(1, PendingReason::draining), given_up, waits(3, PendingReason::draining)});
}

TEST_CASE("only so many of a group run at a time, whatever their class") {
  const auto element = [](JobId id, std::uint32_t limit, std::string_view class_name = "batch", Bytes claim = 0) {
    auto job = waiting(id, class_name, claim);
    job.group = "array 12";
    job.group_limit = limit;
    return job;
  };
  auto running = runs(41, 0);
  running.group = "array 12";
  CHECK(plan(input({element(1, 2), element(2, 2, "validate"), waiting(3, "batch", 0)}, {running})) ==
        Plan{starts(1), waits(2, PendingReason::dependency, "2 of 2 of array 12 are running"), starts(3)});
  CHECK(plan(input({element(1, 1)}, {running})) ==
        Plan{waits(1, PendingReason::dependency, "1 of 1 of array 12 is running")});
  CHECK(plan(input({element(1, 0), element(2, 0)}, {running})) == Plan{starts(1), starts(2)});
  // One that waits for memory keeps its place in the group.
  CHECK(plan(input({element(1, 2, "batch", 12 * gibi), element(2, 2)}, {running, runs(42, 13 * gibi)})) ==
        Plan{waits(1, PendingReason::resources_memory, "needs 12.0G, 3.0G free, waits for 42"),
             waits(2, PendingReason::priority, "behind job 1, which waits for memory")});
  // Each judges by its own limit.
  CHECK(plan(input({element(1, 1), element(2, 3), element(3, 2)}, {running})) ==
        Plan{waits(1, PendingReason::dependency, "1 of 1 of array 12 is running"), starts(2),
             waits(3, PendingReason::dependency, "2 of 2 of array 12 are running")});
}

TEST_CASE("among equals the user who uses least comes first") {
  const auto queue = std::vector{owned(waiting(1, "batch", gibi), 1000), owned(waiting(2, "batch", gibi), 1000),
                                 owned(waiting(3, "batch", gibi), 1001), owned(waiting(4, "batch", gibi), 1001),
                                 owned(waiting(5, "batch", gibi), 1002)};
  // What the plan gives counts.
  CHECK(order_of(plan(input(queue))) == std::vector<JobId>{1, 3, 5, 2, 4});
  // What runs counts, if it is older.
  auto running = runs(0, 2 * gibi);
  running.owner = 1000;
  CHECK(order_of(plan(input(queue, {running}))) == std::vector<JobId>{3, 5, 4, 1, 2});
  // Priority goes before.
  auto urgent = queue;
  urgent[1].priority = 1;
  CHECK(order_of(plan(input(urgent, {running}))) == std::vector<JobId>{2, 3, 5, 4, 1});
}

TEST_CASE("the larger share counts, of memory or of cores, and jobs that claim nothing count last") {
  const auto first_of = [](RunningJob of_1000, RunningJob of_1001) {
    of_1000.owner = 1000;
    of_1001.owner = 1001;
    return plan(with_cores({owned(waiting(11, "batch", 0), 1000), owned(waiting(12, "batch", 0), 1001)},
                           {of_1000, of_1001}))
        .front()
        .id;
  };
  CHECK(first_of(runs(1, 4 * gibi, 0), runs(2, 0, 2)) == 11);  // a quarter of the memory, half of the cores
  CHECK(first_of(runs(1, 9 * gibi, 0), runs(2, gibi, 2)) == 12);
  CHECK(first_of(runs(1, 8 * gibi, 1), runs(2, 4 * gibi, 2)) == 11);  // the same: by submission
  // Two jobs without claims against one.
  auto more = with_cores({owned(waiting(11, "batch", 0), 1000), owned(waiting(12, "batch", 0), 1001)});
  for (const auto& [id, owner] : {std::pair<JobId, UserId>{1, 1000}, {2, 1000}, {3, 1001}}) {
    more.running.push_back(runs(id, 0));
    more.running.back().owner = owner;
  }
  CHECK(order_of(plan(more)) == std::vector<JobId>{12, 11});
}

TEST_CASE("jobs that passed an older one do not push it back") {
  auto passed = runs(10, 0, 2);
  passed.owner = 1000;
  CHECK(order_of(plan(with_cores({owned(waiting(1, "batch", gibi), 1000), owned(waiting(2, "batch", gibi), 1001),
                                  owned(waiting(20, "batch", gibi), 1000), owned(waiting(21, "batch", gibi), 1001)},
                                 {passed}))) == std::vector<JobId>{1, 2, 21, 20});
}

TEST_CASE("of users who use nothing now, the one whose turn is longest ago comes first") {
  std::vector<WaitingJob> queue;
  for (JobId id = 10; id < 20; ++id) queue.push_back(owned(waiting(id, "train", 0), 1000));
  queue.push_back(owned(waiting(30, "train", 0), 1001));
  auto state = input(queue);
  CHECK(plan(state).front() == starts(10));
  // A job of the long queue has just ended, and the other user never had a turn.
  state.served = {{.id = 9, .owner = 1000, .started = at(100)}};
  CHECK(plan(state).front() == starts(30));
  state.served.push_back({.id = 29, .owner = 1001, .started = at(200)});
  CHECK(plan(state).front() == starts(10));
  // A turn that a younger job had is none of the older one's.
  state.served = {{.id = 19, .owner = 1000, .started = at(300)}, {.id = 29, .owner = 1001, .started = at(200)}};
  CHECK(plan(state).front() == starts(10));
}

TEST_CASE("a user who queues ten thousand jobs delays another's first job by one decision") {
  std::vector<WaitingJob> queue;
  for (JobId id = 1; id <= 10'000; ++id) queue.push_back(owned(waiting(id, "batch", gibi), 1000));
  queue.push_back(owned(waiting(10'001, "batch", gibi), 1001));
  auto state = input(queue);
  CHECK(order_of(plan(state))[1] == 10'001);
  state.start_limit = 2;
  const auto entries = plan(state);
  CHECK(entries[0].start);
  CHECK(entries[1] == starts(10'001));
  CHECK_FALSE(entries[2].start);
}

TEST_CASE("the order in which jobs are listed does not matter") {
  std::mt19937 random(3);
  auto state = with_cores({reserving(1, 2, 4 * gibi), reserving(2, 3), owned(reserving(3, 1, 9 * gibi), 7),
                           owned(reserving(4, 1), 7), owned(limited(reserving(5, 1, gibi), minutes(1)), 8)},
                          {runs(41, 2 * gibi, 1, minutes(4)), runs(42, 2 * gibi, 1, minutes(4)), runs(43, gibi)});
  const auto expected = plan(state);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(state.waiting.begin(), state.waiting.end(), random);
    std::shuffle(state.running.begin(), state.running.end(), random);
    REQUIRE(plan(state) == expected);
  }
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
