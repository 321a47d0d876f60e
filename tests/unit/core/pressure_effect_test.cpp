// What giving way brought, measured after a second, five and fifteen.
#include <set>

#include <catch2/catch.hpp>

#include "pressure_bench.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;
using Condition = PressureJob::Condition;

namespace {

constexpr std::int64_t freed_mebibyte = std::int64_t{1} << 20;

Bench night(const PressureSettings& settings = {}) {
  Bench bench(settings);
  bench.add(job(1, train_rank, 900 * mebibyte));
  bench.add(job(2, batch_rank, 400 * mebibyte));
  bench.add(job(3, validate_rank, 500 * mebibyte));
  return bench;
}

const Freed& effect_of(const Decision& decision) { return std::get<Freed>(decision.action); }

}  // namespace

TEST_CASE("what a throttle freed is told once, after fifteen seconds, with the three values") {
  Bench bench = night();
  bench.available(150);
  const auto throttle = only<Throttle>(bench.run(seconds(1))).at(0);
  REQUIRE(throttle.job == 2);
  bench.available(160);
  bench.run(milliseconds(1500));
  bench.available(140);
  bench.run(seconds(4));
  bench.available(250);
  CHECK(only<Freed>(bench.run(milliseconds(9400))).empty());
  const auto told = only<Freed>(bench.run(milliseconds(100)));
  REQUIRE(told.size() == 1);
  CHECK(told[0].job == 2);
  CHECK(told[0].job_name == "job2");
  CHECK_FALSE(told[0].dry_run);
  CHECK(effect_of(told[0]).decision == throttle.id);
  CHECK(effect_of(told[0]).of == "throttle");
  CHECK(effect_of(told[0]).after[0] == 10 * freed_mebibyte);
  CHECK(effect_of(told[0]).after[1] == -10 * freed_mebibyte);
  CHECK(effect_of(told[0]).after[2] == 100 * freed_mebibyte);
}

TEST_CASE("what a kill freed is told of a job that is gone") {
  Bench bench = night();
  bench.available(30);
  bench.run(seconds(1));
  const auto kill = only<Kill>(bench.all).at(0);
  bench.remove(kill.job);
  bench.available(430);
  const auto told = only<Freed>(bench.run(seconds(16)));
  const auto of_kill = std::find_if(told.begin(), told.end(),
                                    [&](const Decision& decision) { return effect_of(decision).decision == kill.id; });
  REQUIRE(of_kill != told.end());
  CHECK(of_kill->job == kill.job);
  CHECK(of_kill->job_name == kill.job_name);
  CHECK(effect_of(*of_kill).of == "kill");
  for (const auto& freed : effect_of(*of_kill).after) CHECK(freed == 400 * freed_mebibyte);
}

TEST_CASE("a park is measured as well, whatever becomes of it") {
  Bench bench = night();
  bench.swap(2000, 2000);
  bench.available(95);
  const auto park = only<Park>(bench.run(seconds(1))).at(0);
  bench.job(park.job).condition = Condition::parking;
  const auto told = only<Freed>(bench.run(seconds(16)));
  const auto count = std::count_if(told.begin(), told.end(), [&](const Decision& decision) {
    return effect_of(decision).of == "park" && effect_of(decision).decision == park.id;
  });
  CHECK(count == 1);
}

TEST_CASE("a moment that nobody looked at is left out, and where nothing was seen nothing is told") {
  Bench bench = night();
  bench.available(150);
  REQUIRE(only<Throttle>(bench.run(seconds(1))).size() == 1);
  SECTION("the second of them") {
    bench.run(seconds(2));
    bench.pass(seconds(7));
    const auto told = only<Freed>(bench.run(seconds(10)));
    REQUIRE_FALSE(told.empty());
    CHECK(effect_of(told[0]).after[0].has_value());
    CHECK_FALSE(effect_of(told[0]).after[1].has_value());
    CHECK(effect_of(told[0]).after[2].has_value());
  }
  SECTION("all") {
    bench.pass(minutes(1));
    CHECK(only<Freed>(bench.run(seconds(1))).empty());
  }
}

TEST_CASE("what was only pretended frees nothing, and looking at effects needs no look of its own") {
  Bench pretended = night({.mode = PressureMode::dry_run});
  pretended.available(30);
  CHECK(only<Freed>(pretended.run(seconds(20))).empty());
  CHECK_FALSE(only<Throttle>(pretended.all).empty());

  Bench bench = night();
  bench.available(150);
  bench.run(seconds(1));
  const auto pressed = bench.policy.next_step_after();
  bench.snapshot.jobs.clear();
  bench.step();
  CHECK(pressed == milliseconds(100));
  CHECK_FALSE(bench.policy.next_step_after());
}

TEST_CASE("no two decisions have the same id, and they grow") {
  Bench bench = night();
  bench.available(95);
  bench.run(seconds(40));
  std::set<std::uint64_t> ids;
  std::uint64_t last = 0;
  for (const auto& decision : bench.all) {
    CHECK(decision.id > last);
    last = decision.id;
    ids.insert(decision.id);
  }
  CHECK(ids.size() == bench.all.size());
  REQUIRE(bench.all.size() > 3);
  CHECK(bench.all[0].id == static_cast<std::uint64_t>(bench.all[0].when.time_since_epoch().count()));
}
