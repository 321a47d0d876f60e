// Whole nights on a simulated machine of 2 GiB whose jobs need 60 % more than there is.
#include "pressure_simulator.hpp"

#include <catch2/catch.hpp>

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t nights = 10;  // each takes fifteen times as long, and walks the same code
#else
constexpr std::uint64_t nights = 60;
#endif
constexpr auto solo = std::chrono::minutes(6);

struct Total {
  std::size_t kills = 0;
  std::size_t parks = 0;
  Microseconds lost{0};
  std::size_t quick_trainings = 0;  // at 90 % of the speed it has alone
};

Total all_nights(Shape shape, Bytes swap, std::uint32_t swap_cost_percent) {
  Total total;
  for (std::uint64_t seed = 1; seed <= nights; ++seed) {
    CAPTURE(static_cast<int>(shape), seed, swap / mebibyte, swap_cost_percent);
    const auto report = simulate(random_night(shape, seed, swap, swap_cost_percent));
    CHECK(report.violation.value_or("") == "");
    total.kills += report.kills;
    total.parks += report.parks;
    total.lost += report.lost_work;
    if (report.train_took * 9 <= Microseconds(solo) * 10) ++total.quick_trainings;
  }
  UNSCOPED_INFO("shape " << static_cast<int>(shape) << ", swap " << swap / mebibyte << " MiB at " << swap_cost_percent
                         << " %: " << total.kills << " kills, " << total.parks << " parks, "
                         << total.lost.count() / 1000000 << " s of work lost, " << total.quick_trainings << " of "
                         << nights << " trainings at 90 % of their speed");
  return total;
}

}  // namespace

TEST_CASE("these nights fail without the policy") {
  const auto shape = GENERATE(Shape::ramps, Shape::rapid, Shape::many);
  std::size_t failed = 0;
  for (std::uint64_t seed = 1; seed <= nights; ++seed) {
    const auto mode = seed % 2 == 0 ? PressureMode::off : PressureMode::dry_run;
    const auto report = simulate(random_night(shape, seed, 2048 * mebibyte, 0), {.mode = mode});
    if (report.violation) ++failed;
  }
  CHECK(failed * 10 >= nights * 9);
}

TEST_CASE("with swap for all nobody is killed, and every job ends") {
  const auto total = all_nights(GENERATE(Shape::ramps, Shape::rapid, Shape::many), 2048 * mebibyte, 0);
  CHECK(total.kills == 0);
  CHECK(total.lost == Microseconds{0});
  CHECK(total.parks > 0);
  CHECK(total.quick_trainings == nights);
}

TEST_CASE("without swap the least important are killed one at a time, and every job ends") {
  const auto total = all_nights(GENERATE(Shape::ramps, Shape::rapid, Shape::many), 0, 0);
  CHECK(total.parks == 0);
  CHECK(total.kills > 0);
  CHECK(total.quick_trainings * 10 >= nights * 9);
}

TEST_CASE("with half the swap, or compressed swap, fewer are killed than without") {
  const auto shape = GENERATE(Shape::ramps, Shape::rapid, Shape::many);
  const auto without = all_nights(shape, 0, 0);
  const auto half = all_nights(shape, 1024 * mebibyte, 0);
  const auto compressed = all_nights(shape, 1024 * mebibyte, 35);
  CHECK(half.kills < without.kills);
  CHECK(compressed.kills < without.kills);
}
