// Levels, throttles, parks and kills: one reaction at a time.
#include "core/pressure_policy.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "core/job.hpp"
#include "pressure_bench.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;
using Condition = PressureJob::Condition;
using Ids = std::vector<JobId>;

namespace {

Bench night(const PressureSettings& settings = {}) {
  Bench bench(settings);
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(job(2, batch_rank, 400 * mebibyte));
  bench.add(job(3, validate_rank, 500 * mebibyte));
  return bench;
}

}  // namespace

TEST_CASE("at level 1 nothing is started, and the least important job stops growing") {
  Bench bench = night();
  bench.run(seconds(10));
  CHECK_FALSE(bench.policy.admission_stopped());
  CHECK(bench.policy.next_step_after() == seconds(1));
  bench.available(150);
  const auto made = bench.run(seconds(1));
  REQUIRE(made.size() == 2);
  CHECK(made[0].action == PressureAction(LevelChanged{0, 1}));
  CHECK(made[1].job == 2);
  CHECK(made[1].action == PressureAction(Throttle{.memory_high = 400 * mebibyte / 100 * 2 + 400 * mebibyte}));
  CHECK(made[1].rule == PressureRule::available);
  CHECK(bench.policy.admission_stopped());
  CHECK(bench.policy.next_step_after() == milliseconds(100));
  CHECK(jobs_of<Throttle>(bench.run(milliseconds(1900))).empty());
  CHECK(jobs_of<Throttle>(bench.run(milliseconds(200))) == Ids{3});
  CHECK(jobs_of<Throttle>(bench.run(seconds(10))).empty());
}

TEST_CASE("who grows is throttled first, unless its own limit stops it as soon") {
  Bench bench = night();
  bench.job(3).growing = true;
  bench.available(150);
  SECTION("first") {
    CHECK_FALSE(bench.policy.throttles(3));
    CHECK(jobs_of<Throttle>(bench.run(seconds(1))) == Ids{3});
    CHECK(bench.policy.throttles(3));
    CHECK_FALSE(bench.policy.throttles(2));
  }
  SECTION("held by its own limit") {
    bench.job(3).memory.high = 505 * mebibyte;
    CHECK(jobs_of<Throttle>(bench.run(seconds(10))) == Ids{2});
  }
}

TEST_CASE("a forecast stops admission, and growth only where it would be over before the bound is seen") {
  Bench bench = night();
  const auto lose = [&](Bytes mebibytes_per_second) {
    return [&bench, mebibytes_per_second](Microseconds time) {
      const auto lost = static_cast<Bytes>(time.count()) * mebibytes_per_second * mebibyte / 1000000;
      bench.snapshot.machine.available -= lost;
      bench.job(3).memory.anon += lost;
    };
  };
  SECTION("slowly") {
    bench.available(480);
    bench.run(seconds(10));
    const auto made = bench.run(seconds(12), lose(10));
    REQUIRE(bench.snapshot.machine.available > 250 * mebibyte);
    REQUIRE(made.size() == 1);
    CHECK(made.front().action == PressureAction(LevelChanged{0, 1}));
    CHECK(made.front().rule == PressureRule::forecast);
    CHECK(bench.policy.admission_stopped());
  }
  SECTION("fast") {
    bench.available(1600);
    bench.run(seconds(10));
    const auto made = bench.run(seconds(6), lose(220));
    REQUIRE(bench.snapshot.machine.available > 200 * mebibyte);
    REQUIRE(jobs_of<Throttle>(made) == Ids{3});
    CHECK(only<Throttle>(made).front().rule == PressureRule::forecast);
  }
}

TEST_CASE("throttles are undone when it is calm again") {
  Bench bench = night();
  bench.available(150);
  bench.run(seconds(5));
  bench.available(300);
  CHECK(jobs_of<Unthrottle>(bench.run(seconds(29))).empty());
  const auto made = bench.run(seconds(2));
  CHECK(jobs_of<Unthrottle>(made) == Ids{2, 3});
  CHECK(only<Unthrottle>(made).front().rule == PressureRule::calm);
  CHECK(bench.policy.state().throttled.empty());
}

TEST_CASE("while a level only lasts, nothing more is done") {
  Bench bench = night();
  bench.swap(2000, 2000);
  SECTION("level 1") {
    bench.available(150);
    CHECK(jobs_of<Throttle>(bench.run(seconds(1))) == Ids{2});
    bench.available(220);
  }
  SECTION("level 2") {
    bench.available(95);
    CHECK(jobs_of<Park>(bench.run(seconds(1))) == Ids{2});
    bench.job(2).condition = Condition::parking;
    bench.run(milliseconds(100));
    bench.job(2).condition = Condition::parked;
    bench.available(220);
    bench.run(milliseconds(100));
    REQUIRE(bench.policy.level() == 1);
  }
  CHECK(acts(bench.run(seconds(20))) == 0);
  CHECK(bench.policy.level() == 1);
}

TEST_CASE("a park comes before a kill, at every level, and one at a time") {
  Bench bench = night();
  bench.swap(2000, 2000);
  bench.available(GENERATE(Bytes{90}, Bytes{30}, Bytes{15}));
  const auto made = bench.run(milliseconds(300));
  REQUIRE(jobs_of<Park>(made) == Ids{2});
  CHECK(only<Park>(made).front().action == PressureAction(Park{400 * mebibyte}));
  bench.available(30);
  bench.job(2).condition = Condition::parking;
  // Moves 10 MiB per 100 ms.
  const auto during = bench.run(seconds(4), [&](Microseconds) {
    bench.job(2).memory.anon -= 10 * mebibyte;
    bench.job(2).memory.swap += 10 * mebibyte;
    bench.snapshot.machine.available += 5 * mebibyte;
  });
  CHECK(jobs_of<Kill>(during).empty());
  CHECK(jobs_of<Park>(during).empty());
  bench.job(2).condition = Condition::parked;
  const auto after = bench.run(milliseconds(200));
  REQUIRE(notices(after) == std::vector{PressureRule::park_done});
  CHECK(std::get<Notice>(only<Notice>(after).front().action).freed > 0);
}

TEST_CASE("a park without effect ends in a kill, of the job that is frozen") {
  Bench bench = night();
  bench.swap(2000, 2000);
  bench.available(90);
  REQUIRE(jobs_of<Park>(bench.run(seconds(1))) == Ids{2});
  bench.job(2).condition = Condition::parking;
  PressureDecisions made;
  SECTION("because nothing moves") {
    CHECK(jobs_of<Kill>(bench.run(seconds(9))).empty());
    made = bench.run(seconds(2));
  }
  SECTION("because it could not be done") {
    bench.policy.report({.id = 2, .what = ActionOutcome::What::park, .done = false});
    made = bench.run(milliseconds(200));
  }
  CHECK(notices(made) == std::vector{PressureRule::park_without_effect});
  REQUIRE(jobs_of<Kill>(made) == Ids{2});
  CHECK(only<Kill>(made).front().rule == PressureRule::park_without_effect);
}

TEST_CASE("a failed park is undone when the pressure is gone by itself") {
  Bench bench = night();
  bench.swap(2000, 2000);
  bench.available(90);
  REQUIRE(jobs_of<Park>(bench.run(seconds(1))) == Ids{2});
  bench.job(2).condition = Condition::parking;
  bench.available(900);
  const auto made = bench.run(seconds(12));
  CHECK(jobs_of<Unpark>(made) == Ids{2});
  CHECK(jobs_of<Kill>(made).empty());
  bench.job(2).condition = Condition::running;
  CHECK(acts(bench.run(seconds(10))) == 0);
}

TEST_CASE("an emergency does not wait for a park that does not help") {
  Bench bench = night();
  bench.swap(2000, 2000);
  bench.available(30);
  REQUIRE(jobs_of<Park>(bench.run(milliseconds(100))).size() + bench.all.size() > 0);
  bench.job(2).condition = Condition::parking;
  bench.available(10);
  CHECK(jobs_of<Kill>(bench.run(milliseconds(1500))) == Ids{2});
}

TEST_CASE("without swap it is a kill, once it is clear that it does not get better") {
  Bench bench = night();
  SECTION("below level 3 at once") {
    bench.available(30);
    CHECK(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{2});
  }
  SECTION("at level 2 after a while") {
    bench.available(90);
    CHECK(jobs_of<Kill>(bench.run(seconds(10))).empty());
    const auto made = bench.run(seconds(2));
    REQUIRE(jobs_of<Kill>(made) == Ids{2});
    CHECK(only<Kill>(made).front().rule == PressureRule::park_impossible);
  }
  SECTION("at level 2 before it is exhausted") {
    bench.available(98);
    const auto made = bench.run(seconds(7), [&](Microseconds) { bench.snapshot.machine.available -= mebibyte; });
    REQUIRE(jobs_of<Kill>(made) == Ids{2});
    CHECK(only<Kill>(made).front().rule == PressureRule::forecast);
    CHECK(only<Kill>(made).front().inputs.signs.available > 40 * mebibyte);
    // Slowing it down now would only delay its end.
    CHECK(jobs_of<Throttle>(made) == Ids{2, 3});
  }
  SECTION("not when level 2 passes") {
    bench.available(90);
    bench.run(seconds(8));
    bench.available(160);
    CHECK(jobs_of<Kill>(bench.run(minutes(1))).empty());
  }
}

TEST_CASE("what is left below mljob.slice's limit counts like what the machine has") {
  Bench bench = night();
  CgroupMemory slice = holding(1760 * mebibyte);
  slice.max = 1800 * mebibyte;
  bench.snapshot.jobs_slice = slice;
  CHECK(jobs_of<Kill>(bench.run(seconds(12))) == Ids{2});
  CHECK(bench.all.front().inputs.signs.available == 40 * mebibyte);
  CHECK(bench.all.front().inputs.machine_available == 1000 * mebibyte);
}

TEST_CASE("a job that has just begun is parked rather than a more important one, but not killed") {
  Bench bench = night();
  bench.run(seconds(10));
  bench.job(2).started = at(bench.now()).boot;
  bench.available(30);
  SECTION("parked") {
    bench.swap(2000, 2000);
    CHECK(jobs_of<Park>(bench.run(seconds(1))) == Ids{2});
  }
  SECTION("not killed") { CHECK(jobs_of<Kill>(bench.run(seconds(1))) == Ids{3}); }
}

TEST_CASE("without PSI availability protects alone") {
  Bench bench = night();
  for (auto& each : bench.snapshot.jobs) each.memory.memory_stalls.reset();
  bench.available(30);
  CHECK(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{2});
}

TEST_CASE("the top job's stalls and slowdown ask others to give way") {
  Bench bench = night();
  bench.swap(2000, 2000);
  const auto work = [&](double speed) {
    return [&bench, speed](Microseconds time) {
      bench.job(1).memory.cpu_time +=
          Microseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * speed));
      bench.snapshot.machine.scanned_pages += 50;
    };
  };
  bench.run(minutes(1), work(2));
  REQUIRE(bench.all.empty());
  bench.available(150);
  CHECK(jobs_of<Park>(bench.run(seconds(10), work(1.5))).empty());
  SECTION("slow") {
    const auto made = bench.run(seconds(10), work(0.2));
    REQUIRE(jobs_of<Park>(made) == Ids{2});
    CHECK(only<Park>(made).front().rule == PressureRule::top_slow);
    CHECK(*only<Park>(made).front().inputs.signs.top_speed < 0.5);
  }
  SECTION("slow, and nobody can be parked: that alone kills nobody") {
    bench.swap(0, 0);
    CHECK(jobs_of<Kill>(bench.run(minutes(1), work(0.2))).empty());
    CHECK(bench.policy.level() == 2);
  }
  SECTION("stalling") {
    const auto made = bench.run(seconds(8), [&](Microseconds time) {
      work(1.5)(time);
      Bench::stall(bench.job(1), time, 0.3, 0.2);
    });
    REQUIRE(jobs_of<Park>(made) == Ids{2});
    CHECK(only<Park>(made).front().rule == PressureRule::top_stall);
  }
  SECTION("refaulting") {
    const auto made = bench.run(seconds(8), [&](Microseconds time) {
      work(2)(time);
      bench.job(1).memory.refaulted_anon_pages += static_cast<std::uint64_t>(time.count()) * 300 / 1000000;
    });
    REQUIRE(jobs_of<Park>(made) == Ids{2});
    CHECK(only<Park>(made).front().rule == PressureRule::top_refaults);
  }
}

TEST_CASE("after a kill there is a cool-down, which only an emergency breaks") {
  Bench bench = night();
  bench.available(30);
  REQUIRE(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{2});
  bench.remove(2);
  bench.run(seconds(3));
  REQUIRE(bench.policy.state().cool_until);
  CHECK(jobs_of<Kill>(bench.run(seconds(10))).empty());
  SECTION("over") {
    const auto made = bench.run(seconds(6));
    CHECK(jobs_of<Kill>(made) == Ids{3});
    CHECK(only<Kill>(made).front().episode == only<Kill>(bench.all).front().episode + 1);
  }
  SECTION("broken") {
    bench.available(15);
    CHECK(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{3});
  }
}

TEST_CASE("a victim that does not go is told, and the next one taken") {
  Bench bench = night();
  bench.available(30);
  REQUIRE(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{2});
  SECTION("in time") {
    CHECK(jobs_of<Kill>(bench.run(seconds(9))).empty());
    const auto made = bench.run(seconds(2));
    CHECK(notices(made) == std::vector{PressureRule::unkillable});
    REQUIRE(jobs_of<Kill>(made) == Ids{3});
    CHECK(only<Kill>(made).front().candidates.at(1).verdict == "unkillable");
  }
  SECTION("at once when it could not even be asked") {
    bench.policy.report({.id = 2, .what = ActionOutcome::What::kill, .done = false});
    CHECK(jobs_of<Kill>(bench.run(milliseconds(300))) == Ids{3});
  }
  SECTION("but not while its memory goes") {
    const auto made = bench.run(seconds(20), [&](Microseconds) { bench.job(2).memory.anon -= mebibyte; });
    CHECK(jobs_of<Kill>(made).empty());
  }
}

TEST_CASE("among jobs of one size the one that grows gives way, parked or killed") {
  const bool grows = GENERATE(false, true);
  Bench bench = night();
  bench.add(job(4, batch_rank, 401 * mebibyte)).growing = grows;
  // The one that began last goes first where nobody grows.
  bench.job(4).started = at(-minutes(2)).boot;
  bench.job(2).started = at(-minutes(1)).boot;
  const Ids expected{grows ? JobId{4} : JobId{2}};
  SECTION("killed, without swap") {
    bench.available(30);
    CHECK(jobs_of<Kill>(bench.run(milliseconds(200))) == expected);
  }
  SECTION("parked, with it") {
    bench.swap(2000, 2000);
    bench.available(80);
    CHECK(jobs_of<Park>(bench.run(milliseconds(200))) == expected);
  }
  SECTION("it is no reason to take one that frees too little") {
    bench.job(4).memory = holding(25 * mebibyte);
    bench.available(30);
    CHECK(jobs_of<Kill>(bench.run(milliseconds(200))) == Ids{2});
  }
}

TEST_CASE("one that must not be parked is passed over, and killed where nobody else can be parked") {
  Bench bench = night();
  JobSpec spec;
  spec.parkable = false;
  bench.job(2).unparkable = why_unparkable(spec);
  bench.swap(2000, 2000);
  bench.available(80);
  SECTION("passed over") {
    const auto made = only<Park>(bench.run(milliseconds(200)));
    REQUIRE(made.size() == 1);
    CHECK(made.front().job == 3);
    const auto& candidates = made.front().candidates;
    CHECK(std::any_of(candidates.begin(), candidates.end(), [](const Candidate& candidate) {
      return candidate.id == 2 && candidate.verdict == "unparkable (was submitted with --no-park)";
    }));
  }
  SECTION("killed") {
    bench.remove(3);
    const auto made = bench.run(seconds(15));
    CHECK(jobs_of<Park>(made).empty());
    CHECK(jobs_of<Kill>(made) == Ids{2});
  }
}

TEST_CASE("a job that can save its work gets the time, if memory lasts that long") {
  Bench bench = night();
  bench.job(2).checkpoint_grace = minutes(5);
  SECTION("bounded") {
    bench.available(30);
    const auto made = only<Kill>(bench.run(milliseconds(200)));
    REQUIRE(made.size() == 1);
    CHECK(std::get<Kill>(made.front().action).checkpoint_grace == seconds(60));
    CHECK(jobs_of<Kill>(bench.run(seconds(65))).empty());
    bench.available(10);
    const auto cut = only<Kill>(bench.run(milliseconds(200)));
    REQUIRE(cut.size() == 1);
    CHECK(cut.front().rule == PressureRule::grace_cut_short);
    CHECK_FALSE(std::get<Kill>(cut.front().action).checkpoint_grace);
    CHECK(jobs_of<Kill>(bench.run(seconds(9))).empty());
  }
  SECTION("not in an emergency") {
    bench.available(10);
    const auto made = only<Kill>(bench.run(milliseconds(200)));
    REQUIRE(made.size() == 1);
    CHECK_FALSE(std::get<Kill>(made.front().action).checkpoint_grace);
  }
  SECTION("not while frozen") {
    bench.job(2).condition = Condition::frozen_by_user;
    bench.available(30);
    const auto made = only<Kill>(bench.run(milliseconds(200)));
    REQUIRE(made.size() == 1);
    CHECK_FALSE(std::get<Kill>(made.front().action).checkpoint_grace);
  }
}

TEST_CASE("a grace that an earlier daemon gave is waited for, and cut short, as one of its own") {
  Bench bench = night();
  bench.job(2).condition = Condition::stopping;
  bench.job(2).saves_until = at(bench.now() + seconds(40)).boot;
  bench.available(30);
  SECTION("waited for") {
    CHECK(jobs_of<Kill>(bench.run(seconds(45))).empty());
    CHECK(bench.policy.admission_stopped());
  }
  SECTION("cut short") {
    CHECK(jobs_of<Kill>(bench.run(seconds(2))).empty());
    bench.available(10);
    const auto cut = only<Kill>(bench.run(milliseconds(200)));
    REQUIRE(cut.size() == 1);
    CHECK(cut.front().job == 2);
    CHECK(cut.front().rule == PressureRule::grace_cut_short);
  }
}

TEST_CASE("a job that is being stopped anyway is waited for") {
  Bench bench = night();
  bench.job(2).condition = Condition::stopping;
  bench.available(30);
  CHECK(jobs_of<Kill>(bench.run(seconds(9))).empty());
  CHECK(jobs_of<Kill>(bench.run(seconds(3))) == Ids{3});
}

TEST_CASE("a dry run records and changes nothing") {
  Bench bench = night({.mode = PressureMode::dry_run});
  bench.swap(2000, 2000);
  bench.available(30);
  const auto made = bench.run(seconds(20));
  for (const auto& decision : made) {
    CAPTURE(describe(decision));
    CHECK(decision.dry_run != std::holds_alternative<LevelChanged>(decision.action));
  }
  CHECK(jobs_of<Throttle>(made) == Ids{2, 3});
  CHECK(jobs_of<Park>(made) == Ids{2, 2});
  CHECK(describe(only<Park>(made).front()).starts_with("would park 2 'job2' (400M): 30M of 2.0G available"));
  CHECK(bench.policy.level() == 3);
  CHECK_FALSE(bench.policy.admission_stopped());
  CHECK(bench.policy.state().throttled.empty());
  CHECK_FALSE(bench.policy.throttles(2));
  bench.available(900);
  for (const auto& decision : only<Unthrottle>(bench.run(minutes(1)))) CHECK(decision.dry_run);
}

TEST_CASE("switched off it still tells the level, and does nothing") {
  Bench bench = night({.mode = PressureMode::off});
  bench.swap(2000, 2000);
  bench.available(10);
  const auto made = bench.run(minutes(1));
  CHECK(acts(made) == 0);
  CHECK(only<LevelChanged>(made).size() == 1);
  CHECK(bench.policy.level() == 3);
  CHECK_FALSE(bench.policy.admission_stopped());
}

TEST_CASE("what is decided does not depend on the order of the jobs") {
  Bench forward = night();
  Bench backward = night();
  std::reverse(backward.snapshot.jobs.begin(), backward.snapshot.jobs.end());
  for (auto* bench : {&forward, &backward}) {
    bench->available(30);
    bench->run(seconds(40));
  }
  REQUIRE(forward.all.size() == backward.all.size());
  for (std::size_t i = 0; i < forward.all.size(); ++i) {
    CHECK(to_values(forward.all[i]) == to_values(backward.all[i]));
  }
}
