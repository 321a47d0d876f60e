// Whose job comes first.
#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "core/scheduler.hpp"
#include "scheduler_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::fixture;
using std::chrono::minutes;

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
