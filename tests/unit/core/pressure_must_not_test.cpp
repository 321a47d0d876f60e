// What must not happen under memory pressure; each was reported of a program that does the same work.
#include <catch2/catch.hpp>

#include "pressure_bench.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;
using Condition = PressureJob::Condition;
using Ids = std::vector<JobId>;

namespace {

Bench with_train_and_batch() {
  Bench bench;
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(job(2, batch_rank, 600 * mebibyte));
  return bench;
}

}  // namespace

TEST_CASE("must not: act on stalls with 90 % of RAM free") {
  Bench bench = with_train_and_batch();
  bench.available(1800);
  const auto made = bench.run(minutes(5), [&](Microseconds time) {
    for (auto& stalled : bench.snapshot.jobs) Bench::stall(stalled, time, 0.95, 0.9);
    bench.snapshot.machine.scanned_pages += 1000;
  });
  CHECK(made.empty());
  CHECK(bench.policy.level() == 0);
}

TEST_CASE("must not: kill when page cache fills a limit") {
  Bench bench = with_train_and_batch();
  // Streams a file of twice its limit: at the limit for ever, stalls there, needs almost nothing.
  auto& stream = bench.job(2);
  stream.memory = holding(20 * mebibyte);
  stream.memory.max = 600 * mebibyte;
  stream.memory.file = 580 * mebibyte;
  stream.memory.current = 600 * mebibyte;
  CgroupMemory slice = holding(920 * mebibyte);
  slice.file = 580 * mebibyte;
  slice.current = slice.max = 1500 * mebibyte;
  bench.snapshot.jobs_slice = slice;
  bench.available(480);  // below watch_below, so that its stalls would be listened to
  const auto made = bench.run(minutes(5), [&](Microseconds time) { Bench::stall(bench.job(2), time, 0.9, 0.8); });
  CHECK(made.empty());
}

TEST_CASE("must not: take a second victim because the memory of the first is not back yet") {
  Bench bench = with_train_and_batch();
  bench.add(job(3, batch_rank, 500 * mebibyte));
  bench.available(30);
  CHECK(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{3});
  SECTION("and its cgroup still holds it") {
    bench.job(3).memory.populated = false;
    bench.available(10);
    CHECK(jobs_of<Kill>(bench.run(seconds(9))).empty());
  }
  SECTION("and its cgroup is gone") {
    bench.remove(3);
    bench.available(10);
    CHECK(jobs_of<Kill>(bench.run(milliseconds(1500))).empty());
  }
  bench.remove(3);
  bench.available(600);
  const auto made = bench.run(minutes(5));
  CHECK(jobs_of<Kill>(made).empty());
  CHECK(notices(made) == std::vector{PressureRule::memory_back});
}

TEST_CASE("must not: stop at a group without a candidate") {
  Bench bench = with_train_and_batch();
  bench.job(2).memory.populated = false;
  bench.add(job(3, batch_rank, 400 * mebibyte)).condition = Condition::starting;
  bench.add(job(4, batch_rank, 400 * mebibyte)).started = at(seconds(0)).boot;
  bench.add(job(5, validate_rank, 400 * mebibyte));
  bench.available(30);
  CHECK(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{5});
}

TEST_CASE("must not: count a kill that was queued as a kill") {
  Bench bench = with_train_and_batch();
  bench.available(30);
  REQUIRE(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{2});
  bench.policy.report({.id = 2, .what = ActionOutcome::What::kill, .done = true});
  const auto made = bench.run(seconds(5));
  CHECK(notices(made).empty());
  CHECK_FALSE(bench.policy.state().cool_until);
  bench.job(2).memory = CgroupMemory{};
  bench.available(630);
  CHECK(notices(bench.run(milliseconds(200))) == std::vector{PressureRule::memory_back});
  CHECK(bench.policy.state().cool_until);
}

TEST_CASE("must not: kill a bystander that is small, or several jobs where one helps") {
  Bench bench = with_train_and_batch();
  bench.add(job(3, batch_rank - 50, 10 * mebibyte));
  bench.add(job(4, batch_rank - 50, 15 * mebibyte));
  bench.available(30);
  const auto made = bench.run(seconds(9));
  CHECK(jobs_of<Kill>(made) == Ids{2});
  const auto record = only<Kill>(made).front();
  CHECK(record.candidates.front() == Candidate{2, "job2", "batch", batch_rank, 600 * mebibyte, "chosen"});
}

TEST_CASE("must not: leave a throttled job stuck for ever without swap") {
  Bench bench = with_train_and_batch();
  bench.available(150);
  const auto first = bench.run(milliseconds(1100));
  REQUIRE(jobs_of<Throttle>(first) == Ids{2});
  const auto throttled_at = only<Throttle>(first).front().when;
  const auto made = bench.run(seconds(31), [&](Microseconds time) {
    bench.job(2).memory.high_events += 10;
    Bench::stall(bench.job(2), time, 1, 1);
  });
  const auto undone = only<Unthrottle>(made);
  REQUIRE(undone.size() == 1);
  CHECK(undone.front().job == 2);
  CHECK(undone.front().rule == PressureRule::throttle_stuck);
  CHECK(undone.front().when - throttled_at <= seconds(30));
  // Nor is it caught again at once.
  CHECK(jobs_of<Throttle>(bench.run(seconds(30))).empty());
}

TEST_CASE("must not: look at memory without a pause, whatever wakes the daemon") {
  Bench bench = with_train_and_batch();
  bench.available(10);
  for (int i = 0; i < 1000; ++i) {
    bench.pass(milliseconds(1));
    bench.step();
    REQUIRE(bench.policy.next_step_after());
    CHECK(*bench.policy.next_step_after() >= milliseconds(100));
  }
  CHECK(bench.all.size() < 10);
  bench.snapshot.jobs.clear();
  bench.available(1900);
  bench.run(minutes(2));
  CHECK_FALSE(bench.policy.next_step_after());
}

TEST_CASE("must not: trust the machine's own stalls") {
  Bench bench = with_train_and_batch();
  bench.available(450);
  bench.snapshot.machine.memory_stalls = StallTotals{};
  const auto made = bench.run(minutes(5), [&](Microseconds time) {
    bench.snapshot.machine.memory_stalls->some += time;
    bench.snapshot.machine.memory_stalls->full += time;
    bench.snapshot.machine.scanned_pages += 1000;
  });
  CHECK(made.empty());
}

TEST_CASE("must not: touch the top job, though it is all that grows") {
  Bench bench = with_train_and_batch();
  bench.remove(2);
  bench.available(300);
  const auto made = bench.run(minutes(2), [&](Microseconds) {
    auto& top = bench.job(1);
    top.growing = true;
    top.memory.anon += mebibyte;
    bench.available(bench.snapshot.machine.available > 5 * mebibyte ? bench.snapshot.machine.available / mebibyte - 1
                                                                    : 5);
  });
  CHECK(acts(made) == 0);
  CHECK(notices(made) == std::vector{PressureRule::top_job_alone});
}

TEST_CASE("must not: judge by windows that a suspended machine slept through") {
  Bench bench = with_train_and_batch();
  bench.available(450);
  bench.run(seconds(10));
  bench.pass(std::chrono::hours(8));
  Bench::stall(bench.job(2), std::chrono::hours(8), 1, 1);
  bench.available(400);
  CHECK(bench.run(seconds(1)).empty());
}
