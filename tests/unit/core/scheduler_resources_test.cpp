// Who waits for what, who passes and who slips in.
#include <chrono>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "core/scheduler.hpp"
#include "scheduler_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::fixture;
using std::chrono::minutes;

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
    job.group_kind = GroupKind::array;
    return job;
  };
  auto running = runs(41, 0);
  running.group = "array 12";
  CHECK(plan(input({element(1, 2), element(2, 2, "validate"), waiting(3, "batch", 0)}, {running})) ==
        Plan{starts(1), waits(2, PendingReason::array_limit, "2 of its jobs run"), starts(3)});
  CHECK(plan(input({element(1, 1)}, {running})) == Plan{waits(1, PendingReason::array_limit, "1 of its jobs runs")});
  CHECK(plan(input({element(1, 0), element(2, 0)}, {running})) == Plan{starts(1), starts(2)});
  // One that waits for memory keeps its place in the group.
  CHECK(plan(input({element(1, 2, "batch", 12 * gibi), element(2, 2)}, {running, runs(42, 13 * gibi)})) ==
        Plan{waits(1, PendingReason::resources_memory, "needs 12.0G, 3.0G free, waits for 42"),
             waits(2, PendingReason::priority, "behind job 1, which waits for memory")});
  // Each judges by its own limit.
  CHECK(plan(input({element(1, 1), element(2, 3), element(3, 2)}, {running})) ==
        Plan{waits(1, PendingReason::array_limit, "1 of its jobs runs"), starts(2),
             waits(3, PendingReason::array_limit, "2 of its jobs run")});
}

TEST_CASE("a singleton depends on the other job of its name") {
  const auto singleton = [](JobId id) {
    auto job = waiting(id, "batch", 0);
    job.group = "singleton train of alice";
    job.group_limit = 1;
    return job;
  };
  CHECK(plan(input({singleton(1), singleton(2)})) ==
        Plan{starts(1), waits(2, PendingReason::dependency, "1 of 1 of singleton train of alice is running")});
}
