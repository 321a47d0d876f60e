#include "core/scheduler.hpp"

#include <algorithm>
#include <ctime>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "scheduler_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::fixture;

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
