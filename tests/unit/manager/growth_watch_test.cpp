#include "growth_watch.hpp"

#include <chrono>
#include <vector>

#include <catch2/catch.hpp>

using namespace mljobd;
using namespace std::chrono_literals;
using core::Bytes;
using core::GrowthNews;

namespace {

constexpr Bytes mebibyte = Bytes{1} << 20;
constexpr Bytes gibibyte = Bytes{1} << 30;
constexpr Bytes plenty = 256 * gibibyte;

// One job, looked at every five seconds; the warm-up is its own and short.
class Watch {
 public:
  Watch() {
    job.id = 7;
    job.state = core::Running{};
    job.attempt.number = 1;
    job.spec.warmup = 1min;
    memory.populated = true;
    memory.anon = gibibyte;
    memory.max = 4 * gibibyte;
  }

  void look(GrowthWatch::Pace pace = GrowthWatch::Pace::own) {
    now += 5s;
    for (const auto told : watch.observe(now, job, memory, headroom, pace).news) news.push_back(told);
  }
  void grow(std::chrono::minutes time, Bytes per_minute) {
    const Bytes step = per_minute / 12;
    for (auto left = time.count() * 12; left > 0; --left) {
      memory.anon += step;
      look();
    }
  }
  [[nodiscard]] std::optional<core::Forecast> forecast() const { return watch.forecast(job); }

  core::Job job{};
  core::CgroupMemory memory{};
  Bytes headroom = plenty;
  GrowthWatch watch{core::GrowthSettings{}};
  core::BootTime now{1h};
  std::vector<GrowthNews> news{};
};

}  // namespace

TEST_CASE("a job that drifts is told to grow, and how long it has to its own limit") {
  Watch watch;
  CHECK_FALSE(watch.forecast());
  watch.memory.max = 3 * gibibyte;
  watch.grow(40min, 20 * mebibyte);
  REQUIRE(watch.forecast());
  CHECK(watch.forecast()->growth == core::Forecast::Growth::growing);
  CHECK(watch.watch.grows(watch.job));
  CHECK(watch.forecast()->bytes_per_hour == Approx(1.17 * gibibyte).epsilon(0.05));
  REQUIRE(watch.forecast()->time_to_limit);
  const auto left = std::chrono::duration<double, std::ratio<60>>(*watch.forecast()->time_to_limit).count();
  CHECK(left == Approx(62).margin(8));
  watch.grow(5min, 20 * mebibyte);
  CHECK(watch.news == std::vector{GrowthNews::growing, GrowthNews::warning});
}

TEST_CASE("what the machine has left is the nearer limit where it is less") {
  Watch watch;
  watch.memory.max = 100 * gibibyte;
  watch.headroom = 100 * mebibyte;
  watch.grow(40min, 20 * mebibyte);
  CHECK(watch.news == std::vector{GrowthNews::growing, GrowthNews::critical});
}

TEST_CASE("page cache is no growth") {
  Watch watch;
  for (int i = 0; i < 12 * 60; ++i) {
    watch.memory.file += 4 * mebibyte;
    watch.memory.current += 4 * mebibyte;
    watch.look();
  }
  CHECK(watch.news.empty());
  REQUIRE(watch.forecast());
  CHECK(watch.forecast()->growth == core::Forecast::Growth::steady);
}

TEST_CASE("while it is held its memory says nothing, and the time does not pass") {
  Watch watch;
  watch.memory.max = 3 * gibibyte;
  watch.grow(40min, 20 * mebibyte);
  const auto before = watch.forecast();
  const auto anon = watch.memory.anon;
  watch.memory.anon = mebibyte;  // moved out
  watch.memory.swap = anon - mebibyte;
  for (int i = 0; i < 12 * 120; ++i) watch.look(GrowthWatch::Pace::held);
  CHECK(watch.forecast() == before);
  watch.memory.anon = anon;
  watch.memory.swap = 0;
  watch.grow(5min, 20 * mebibyte);
  CHECK(watch.news == std::vector{GrowthNews::growing, GrowthNews::warning});
}

TEST_CASE("a group that cannot be read is no job that gave its memory back") {
  Watch watch;
  watch.grow(40min, 20 * mebibyte);
  const auto memory = watch.memory;
  watch.memory = {};
  for (int i = 0; i < 60; ++i) watch.look();
  watch.memory = memory;
  watch.grow(5min, 20 * mebibyte);
  CHECK(watch.news == std::vector{GrowthNews::growing});
}

TEST_CASE("what was known goes with the attempt, with the job, and with the settings") {
  Watch watch;
  watch.grow(40min, 20 * mebibyte);
  REQUIRE(watch.watch.grows(watch.job));
  SECTION("another attempt") {
    watch.job.attempt.number = 2;
    CHECK_FALSE(watch.forecast());
    watch.look();
    CHECK(watch.forecast()->growth == core::Forecast::Growth::learning);
  }
  SECTION("the end of the job") {
    watch.job.state = core::Finished{};
    CHECK_FALSE(watch.forecast());
    watch.watch.keep({});
    watch.job.state = core::Running{};
    CHECK_FALSE(watch.forecast());
  }
  SECTION("other settings") {
    watch.watch.apply_settings({});
    CHECK(watch.watch.grows(watch.job));
    watch.watch.apply_settings({.warning = 2h});
    CHECK_FALSE(watch.forecast());
  }
}

TEST_CASE("looks that come sooner than asked for change nothing") {
  Watch watch;
  watch.grow(40min, 20 * mebibyte);
  auto memory = watch.memory;
  memory.anon += 200 * gibibyte;
  for (int i = 1; i < 5; ++i) {
    const auto change =
        watch.watch.observe(watch.now + std::chrono::seconds(i), watch.job, memory, 0, GrowthWatch::Pace::own);
    CHECK_FALSE(change.shown);
    CHECK(change.news.empty());
  }
}
