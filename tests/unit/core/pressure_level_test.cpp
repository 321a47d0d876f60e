#include "core/pressure_level.hpp"

#include <catch2/catch.hpp>

#include "pressure_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;

namespace {

constexpr Bytes capacity = 2000 * mebibyte;  // bounds: 500, 200, 100, 40, 20; calm above 250

PressureSigns with(Bytes available_mebibytes) {
  return {.capacity = capacity, .available = available_mebibytes * mebibyte};
}

LevelReason judged(const PressureSigns& signs, std::optional<Microseconds> at_level_one = std::nullopt) {
  return assess(PressureSettings{}, signs, at_level_one);
}

}  // namespace

TEST_CASE("what is available decides by itself") {
  using Rule = PressureRule;
  CHECK(judged(with(2000)) == LevelReason{});
  CHECK(judged(with(200)) == LevelReason{});
  CHECK(judged(with(199)) == LevelReason{1, Rule::available});
  CHECK(judged(with(100)) == LevelReason{1, Rule::available});
  CHECK(judged(with(99)) == LevelReason{2, Rule::available});
  CHECK(judged(with(39)) == LevelReason{3, Rule::available});
  CHECK(judged(with(19)) == LevelReason{3, Rule::emergency});
  CHECK(judged(PressureSigns{}) == LevelReason{});
}

TEST_CASE("a large machine is not judged by percentages alone") {
  PressureSigns signs{.capacity = 1024 * gibibyte, .available = 17 * gibibyte};
  CHECK(judged(signs).level == 0);
  signs.available = 15 * gibibyte;
  CHECK(judged(signs).level == 1);
  signs.available = 5 * gibibyte;
  CHECK(judged(signs).level == 2);
  signs.available = 3 * gibibyte;
  CHECK(judged(signs).level == 3);
}

TEST_CASE("other signs count while memory is short, and never with much of it free") {
  struct Case {
    const char* name;
    void (*set)(PressureSigns&);
    std::optional<Microseconds> at_level_one;
    LevelReason expected;
  };
  const Case cases[] = {
      {"a job stalls", [](PressureSigns& s) { s.job_stalls = true; }, {}, {1, PressureRule::job_stall}},
      {"exhausted in a minute",
       [](PressureSigns& s) { s.exhausted_in = seconds(59); },
       {},
       {1, PressureRule::forecast}},
      {"exhausted later", [](PressureSigns& s) { s.exhausted_in = seconds(60); }, {}, {}},
      {"the top job stalls, but only now",
       [](PressureSigns& s) { s.top_stalls = true; },
       {},
       {1, PressureRule::job_stall}},
      {"the top job stalls at level 1 already",
       [](PressureSigns& s) { s.top_stalls = true; },
       seconds(5),
       {2, PressureRule::top_stall}},
      {"the top job stands", [](PressureSigns& s) { s.top_stalls_hard = true; }, {}, {3, PressureRule::top_stall}},
      {"a job stands", [](PressureSigns& s) { s.group_stalls = true; }, {}, {3, PressureRule::group_stall}},
      {"the top job is slow", [](PressureSigns& s) { s.top_speed = 0.49; }, {}, {2, PressureRule::top_slow}},
      {"the top job is not so slow", [](PressureSigns& s) { s.top_speed = 0.51; }, {}, {}},
      {"the top job refaults", [](PressureSigns& s) { s.top_refaults = 101; }, {}, {2, PressureRule::top_refaults}},
      {"the top job refaults a little", [](PressureSigns& s) { s.top_refaults = 99; }, {}, {}},
  };
  for (const auto& [name, set, at_level_one, expected] : cases) {
    CAPTURE(name);
    PressureSigns signs = with(240);
    set(signs);
    CHECK(judged(signs, at_level_one) == expected);
    signs.available = 500 * mebibyte;
    CHECK(judged(signs, at_level_one) == LevelReason{});
    signs.available = 1800 * mebibyte;
    CHECK(judged(signs, at_level_one) == LevelReason{});
  }
}

TEST_CASE("a level rises at once, and falls with a margin") {
  LevelKeeper keeper{PressureSettings{}};
  const auto step = [&](int second, const PressureSigns& signs) {
    keeper.step(at(seconds(second)).boot, signs);
    return keeper.level();
  };
  CHECK(step(0, with(1000)) == 0);
  CHECK(step(1, with(150)) == 1);
  CHECK(keeper.rule() == PressureRule::available);
  CHECK(step(2, with(30)) == 3);
  CHECK(step(3, with(45)) == 3);  // not above 40 by a quarter
  CHECK(step(4, with(55)) == 2);
  CHECK(step(5, with(120)) == 2);  // not above 100 by a quarter
  CHECK(step(6, with(130)) == 1);
  CHECK(step(7, with(240)) == 1);  // not above 200 by a quarter
  CHECK(step(60, with(240)) == 1);
  CHECK(step(61, with(300)) == 1);
  CHECK(step(90, with(300)) == 1);
  CHECK(keeper.since() == at(seconds(1)).boot);
  CHECK(step(91, with(300)) == 0);
  CHECK(keeper.rule() == PressureRule::calm);
  CHECK(keeper.since() == at(seconds(91)).boot);
}

TEST_CASE("what is not calm begins the wait anew") {
  LevelKeeper keeper{PressureSettings{}};
  auto disturbed = with(300);
  SECTION("a stall") { disturbed.calm_stalls = false; }
  SECTION("less available") { disturbed = with(240); }
  SECTION("a reason for level 1") { disturbed.job_stalls = true; }
  keeper.step(at(seconds(0)).boot, with(150));
  keeper.step(at(seconds(1)).boot, with(300));
  keeper.step(at(seconds(20)).boot, disturbed);
  keeper.step(at(seconds(21)).boot, with(300));
  keeper.step(at(seconds(50)).boot, with(300));
  CHECK(keeper.level() == 1);
  keeper.step(at(seconds(51)).boot, with(300));
  CHECK(keeper.level() == 0);
}
