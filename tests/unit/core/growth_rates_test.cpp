// The detector keeps its rates on random courses: no false alarm, no late one, no wrong forecast. The same seeds as the
// first ones of mljob-growth-bench, which tries more and prints what it finds.
#include <string>

#include <catch2/catch.hpp>

#include "growth/traces.hpp"
#include "growth/trial.hpp"

namespace growth {
namespace {

constexpr int traces = 60;

TEST_CASE("nothing is told, and nobody warned, where memory does not grow") {
  const auto shape = GENERATE(Shape::flat, Shape::step, Shape::sawtooth, Shape::preload, Shape::restart, Shape::gap);
  INFO(to_word(shape));
  const auto rates = try_shape(shape, traces, {});
  CHECK(rates.traces == traces);
  CHECK(rates.reported == 0);
  CHECK(rates.alarmed == 0);
}

TEST_CASE("what fills up slowly is growth while it lasts, but nobody is warned of it") {
  const auto rates = try_shape(Shape::saturating, traces, {});
  CHECK(rates.alarmed == 0);
  CHECK(rates.reported <= traces / 4);
}

TEST_CASE("a drift is told within 30 buckets, and the limit foretold") {
  const auto shape =
      GENERATE(Shape::drift, Shape::drift_at_start, Shape::sawtooth_drift, Shape::restart_drift, Shape::gap_drift);
  INFO(to_word(shape));
  const auto rates = try_shape(shape, traces, {});
  CHECK(rates.reported == 0);
  CHECK(rates.alarmed == 0);
  CHECK(rates.detected >= traces * 95 / 100);
  CHECK(rates.detected + rates.detected_later == traces);
  CHECK(share_within(rates, 0.25) >= 0.94);
  CHECK(rates.lasting > 0);
  CHECK(rates.leaks >= rates.lasting * 95 / 100);
}

TEST_CASE("long teeth, stairs and slow drifts are told, if later") {
  const auto shape = GENERATE(Shape::long_teeth_drift, Shape::stairs_drift, Shape::slow_drift);
  INFO(to_word(shape));
  const auto rates = try_shape(shape, traces, {});
  CHECK(rates.alarmed == 0);
  CHECK(rates.detected + rates.detected_later >= traces * 3 / 4);
}

}  // namespace
}  // namespace growth
