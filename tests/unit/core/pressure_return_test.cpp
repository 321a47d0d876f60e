// What comes back: parked jobs, limits of their own, and what a daemon before this one had done.
#include <catch2/catch.hpp>

#include "pressure_bench.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;
using Condition = PressureJob::Condition;
using Ids = std::vector<JobId>;

namespace {

PressureJob parked(JobId id, std::int32_t rank, Bytes size) {
  PressureJob made = job(id, rank, 10 * mebibyte);
  made.memory.swap = size - 10 * mebibyte;
  made.condition = Condition::parked;
  return made;
}

Bench with_parked(const PressureSettings& settings = {}) {
  Bench bench(settings);
  bench.swap(2000, 1000);
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(parked(2, batch_rank, 300 * mebibyte));
  bench.add(parked(3, validate_rank, 500 * mebibyte));
  return bench;
}

constexpr Bytes margin = 260;  // 13 % of 2000

}  // namespace

TEST_CASE("what is parked comes back one by one, the most important first, when there is room with a margin") {
  Bench bench = with_parked();
  bench.available(500 + margin - 1);
  CHECK(jobs_of<Unpark>(bench.run(seconds(1))) == Ids{2});
  bench.job(2).condition = Condition::running;
  bench.run(minutes(2));
  bench.job(2).condition = Condition::parked;
  bench.available(500 + margin);
  bench.run(seconds(1));
  CHECK(bench.all.back().job == 3);
  CHECK(bench.all.back().rule == PressureRule::room);
  bench.job(3).condition = Condition::running;
  // The machine has the memory still, but it is promised.
  CHECK(jobs_of<Unpark>(bench.run(seconds(30))).empty());
  CHECK(bench.policy.promised_memory() == 490 * mebibyte);
}

TEST_CASE("what is woken reads its memory back without being stopped for it, and is watched closely") {
  Bench bench = with_parked();
  bench.remove(2);
  bench.available(800);
  REQUIRE(jobs_of<Unpark>(bench.run(seconds(1))) == Ids{3});
  bench.job(3).condition = Condition::running;
  CHECK(bench.policy.next_step_after() == milliseconds(100));
  const auto made = bench.run(milliseconds(4900), [&](Microseconds) {
    bench.job(3).memory.swap -= 10 * mebibyte;
    bench.job(3).memory.anon += 10 * mebibyte;
    bench.snapshot.machine.available -= 10 * mebibyte;
  });
  CHECK(made.empty());
}

TEST_CASE("at most one is woken per interval") {
  Bench bench = with_parked();
  bench.available(1900);
  bench.snapshot.machine.total = 4000 * mebibyte;
  CHECK(jobs_of<Unpark>(bench.run(seconds(1))) == Ids{3});
  bench.job(3).condition = Condition::running;
  CHECK(jobs_of<Unpark>(bench.run(seconds(9))).empty());
  CHECK(jobs_of<Unpark>(bench.run(seconds(2))) == Ids{2});
}

TEST_CASE("nobody is woken under pressure, nor soon after it") {
  Bench bench = with_parked();
  bench.available(150);
  bench.run(seconds(5));
  bench.available(1000);
  CHECK(jobs_of<Unpark>(bench.run(seconds(39))).empty());
  CHECK(jobs_of<Unpark>(bench.run(seconds(3))) == Ids{3});
}

TEST_CASE("no job sits parked for ever on an idle machine") {
  Bench bench = with_parked();
  bench.job(1).condition = Condition::running;
  bench.available(540);  // 500 and what level 3 begins at
  CHECK(jobs_of<Unpark>(bench.run(seconds(1))) == Ids{});
  bench.remove(1);
  SECTION("it comes back without a margin") {
    const auto made = bench.run(seconds(1));
    REQUIRE(jobs_of<Unpark>(made) == Ids{3});
    CHECK(only<Unpark>(made).front().rule == PressureRule::idle_room);
  }
  SECTION("at a level that others cause, too") {
    bench.remove(3);
    bench.available(150);
    bench.job(2).memory = holding(mebibyte);
    bench.job(2).memory.swap = 100 * mebibyte;
    CHECK(jobs_of<Unpark>(bench.run(seconds(1))) == Ids{2});
  }
  SECTION("and if there is no room at all, that is told once") {
    bench.available(300);
    CHECK(notices(bench.run(minutes(5))) == std::vector{PressureRule::no_room, PressureRule::no_room});
  }
}

TEST_CASE("what a user parked stays parked") {
  Bench bench = with_parked();
  bench.remove(1);
  bench.remove(2);
  bench.job(3).parked_by_hand = true;
  bench.available(1900);
  CHECK(bench.run(minutes(5)).empty());
}

TEST_CASE("an unpark that failed is tried again") {
  Bench bench = with_parked();
  bench.remove(2);
  bench.available(900);
  REQUIRE(jobs_of<Unpark>(bench.run(seconds(1))) == Ids{3});
  bench.policy.report({.id = 3, .what = ActionOutcome::What::unpark, .done = false});
  CHECK(jobs_of<Unpark>(bench.run(seconds(11))) == Ids{3});
}

TEST_CASE("the longest parking time wakes a job, or ends it") {
  PressureSettings settings;
  settings.longest_park_time = minutes(10);
  Bench bench = with_parked(settings);
  bench.remove(2);
  bench.available(560);
  REQUIRE(acts(bench.run(minutes(9))) == 0);
  SECTION("wakes it if it fits without a margin") {
    const auto made = bench.run(seconds(62));
    REQUIRE(jobs_of<Unpark>(made) == Ids{3});
    CHECK(only<Unpark>(made).front().rule == PressureRule::parked_too_long);
  }
  SECTION("ends it otherwise") {
    bench.available(400);
    const auto made = bench.run(seconds(62));
    REQUIRE(jobs_of<Kill>(made) == Ids{3});
    CHECK(only<Kill>(made).front().rule == PressureRule::parked_too_long);
  }
  SECTION("counted over a restart") {
    bench.run(seconds(30));
    const auto state = bench.policy.state();
    REQUIRE(state.parked.size() == 1);
    bench.policy = PressurePolicy(settings, state);
    CHECK(jobs_of<Unpark>(bench.run(seconds(32))) == Ids{3});
  }
}

TEST_CASE("a job stuck at its own memory_high is released within 30 s, or ended if memory is short") {
  Bench bench;
  bench.add(job(1, train_rank, 900 * mebibyte));
  auto& stuck = bench.add(job(2, batch_rank, 395 * mebibyte));
  stuck.memory.high = 400 * mebibyte;
  stuck.memory.max = 600 * mebibyte;
  const bool with_psi = GENERATE(true, false);
  if (!with_psi) stuck.memory.memory_stalls.reset();
  const auto crawl = [&](Microseconds time) {
    bench.job(2).memory.high_events += 5;
    if (with_psi) Bench::stall(bench.job(2), time, 1, 0.9);
  };
  SECTION("released") {
    const auto made = bench.run(seconds(30), crawl);
    REQUIRE(made.size() == 1);
    CHECK(made.front().job == 2);
    CHECK(made.front().action == PressureAction(ReleaseHigh{600 * mebibyte}));
    CHECK(made.front().rule == PressureRule::own_limit_stuck);
  }
  SECTION("ended") {
    bench.available(150);
    const auto made = bench.run(seconds(30), crawl);
    REQUIRE(jobs_of<Kill>(made) == Ids{2});
    CHECK(only<Kill>(made).front().rule == PressureRule::own_limit_stuck);
  }
  SECTION("page cache against the limit is not stuck") {
    bench.job(2).memory.anon = 100 * mebibyte;
    bench.job(2).memory.file = 295 * mebibyte;
    CHECK(bench.run(minutes(2), crawl).empty());
  }
  SECTION("slow is not stuck") {
    CHECK(bench
              .run(minutes(2),
                   [&](Microseconds time) {
                     bench.job(2).memory.high_events += 5;
                     bench.job(2).memory.cpu_time += time / 2;
                     if (with_psi) Bench::stall(bench.job(2), time, 0.6, 0.4);
                   })
              .empty());
  }
}

TEST_CASE("what the daemon before had throttled is undone when it is calm, or when the mode does not act") {
  const PressureState state{.throttled = {{2, 700 * mebibyte}}, .episode = 7};
  PressureSettings settings;
  settings.mode = GENERATE(PressureMode::act, PressureMode::dry_run, PressureMode::off);
  Bench bench(settings, state);
  CHECK(bench.policy.state() == state);
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(job(2, batch_rank, 300 * mebibyte));
  bench.available(settings.mode == PressureMode::act ? 1000 : 150);
  const auto made = only<Unthrottle>(bench.run(seconds(1)));
  REQUIRE(made.size() == 1);
  CHECK(made.front().action == PressureAction(Unthrottle{700 * mebibyte}));
  CHECK_FALSE(made.front().dry_run);
  bench.policy.report({.id = 2, .what = ActionOutcome::What::unthrottle, .done = false});
  CHECK(jobs_of<Unthrottle>(bench.run(seconds(1))) == Ids{2});
}

TEST_CASE("a throttle lasts over a restart in the middle of the pressure") {
  Bench bench;
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(job(2, batch_rank, 300 * mebibyte));
  bench.available(150);
  bench.run(seconds(5));
  const auto state = bench.policy.state();
  REQUIRE(state.throttled == std::vector<PressureState::Throttled>{{2, unlimited}});
  bench.policy = PressurePolicy(PressureSettings{}, state);
  CHECK(acts(bench.run(seconds(20))) == 0);
  bench.available(1000);
  CHECK(jobs_of<Unthrottle>(bench.run(seconds(32))) == Ids{2});
}

TEST_CASE("a park half done at a restart is carried on, or given up") {
  Bench bench = with_parked();
  bench.remove(2);
  bench.job(3).condition = Condition::parking;
  bench.job(3).memory = holding(500 * mebibyte);
  bench.available(90);
  CHECK(jobs_of<Park>(bench.run(seconds(5))).empty());
  SECTION("carried on") {
    bench.job(3).condition = Condition::parked;
    CHECK(notices(bench.run(seconds(1))) == std::vector{PressureRule::park_done});
  }
  SECTION("given up") {
    const auto made = bench.run(seconds(6));
    CHECK(notices(made) == std::vector{PressureRule::park_without_effect});
    CHECK(jobs_of<Kill>(made) == Ids{3});
  }
}

TEST_CASE("a cool-down lasts over a restart, but no longer than one") {
  Bench bench({}, {.cool_until = at(std::chrono::hours(5)).boot});
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(job(2, batch_rank, 300 * mebibyte));
  bench.available(30);
  CHECK(jobs_of<Kill>(bench.run(seconds(15))).empty());
  CHECK(jobs_of<Kill>(bench.run(seconds(2))) == Ids{2});
}

TEST_CASE("a new attempt of a job has no past") {
  Bench bench;
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(job(2, batch_rank, 300 * mebibyte));
  bench.available(150);
  bench.run(seconds(5));
  REQUIRE(bench.policy.state().throttled.size() == 1);
  SECTION("seen") {
    bench.job(2).started = at(bench.now()).boot;
    bench.available(1000);
    bench.run(seconds(1));
  }
  SECTION("told") { bench.policy.forget(2); }
  SECTION("absent") {
    bench.remove(2);
    bench.run(seconds(1));
  }
  CHECK(bench.policy.state().throttled.empty());
}

TEST_CASE("a time scale shortens minutes to seconds") {
  Bench bench({.time_scale_percent = 10});
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(job(2, batch_rank, 300 * mebibyte));
  bench.available(150);
  bench.run(milliseconds(200));
  CHECK(bench.policy.next_step_after() == milliseconds(10));
  REQUIRE(bench.policy.state().throttled.size() == 1);
  bench.available(1000);
  bench.run(milliseconds(3100));
  CHECK(bench.policy.level() == 0);
  CHECK(bench.policy.state().throttled.empty());
}
