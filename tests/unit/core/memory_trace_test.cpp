#include "core/memory_trace.hpp"

#include <catch2/catch.hpp>

#include "pressure_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;

namespace {

struct Point {
  BootTime at{};
  int value = 0;
};

BootTime boot(Microseconds since) { return at(since).boot; }

// Every 100 ms for so long, with a stall share and a CPU share.
class Feed {
 public:
  void run(Microseconds time, double stalled, double cpu) {
    for (Microseconds passed{0}; passed < time; passed += step) {
      now_ += step;
      memory_.memory_stalls->some += share(stalled);
      memory_.memory_stalls->full += share(stalled / 2);
      memory_.cpu_time += share(cpu);
      trace.add(boot(now_), memory_);
    }
  }
  void rest() { memory_ = holding(0); }
  CgroupMemory& memory() { return memory_; }
  JobTrace trace{seconds(30)};

 private:
  static constexpr Microseconds step = milliseconds(100);
  static Microseconds share(double part) { return Microseconds(static_cast<std::int64_t>(part * 100000)); }
  Microseconds now_{0};
  CgroupMemory memory_ = holding(mebibyte);
};

}  // namespace

TEST_CASE("a history answers over its window and stays small however often it is fed") {
  SampleHistory<Point> history(seconds(32));
  CHECK(history.before(seconds(1)) == nullptr);
  for (int i = 0; i < 100000; ++i) history.add({boot(milliseconds(10) * i), i});
  const auto* const then = history.before(seconds(10));
  REQUIRE(then != nullptr);
  CHECK(history.latest().value == 99999);
  CHECK(history.latest().value - then->value >= 1000);
  CHECK(history.latest().value - then->value <= 1060);
  REQUIRE(history.before(seconds(32)) != nullptr);
  CHECK(history.before(seconds(34)) == nullptr);
  history.clear();
  CHECK(history.empty());
}

TEST_CASE("stalls are judged over a window that is full, and by what they are now") {
  Feed feed;
  feed.run(seconds(4), 0.5, 1);
  CHECK_FALSE(feed.trace.stall(Stall::some, seconds(5)));
  CHECK_FALSE(feed.trace.stalls(Stall::some, 10, seconds(5)));
  feed.run(seconds(2), 0.5, 1);
  REQUIRE(feed.trace.stall(Stall::some, seconds(5)));
  CHECK(*feed.trace.stall(Stall::some, seconds(5)) == Approx(0.5).margin(0.02));
  CHECK(*feed.trace.stall(Stall::full, seconds(5)) == Approx(0.25).margin(0.02));
  CHECK(feed.trace.stalls(Stall::some, 10, seconds(5)));
  feed.run(seconds(3), 0, 1);
  CHECK(*feed.trace.stall(Stall::some, seconds(5)) > 0.1);
  CHECK_FALSE(feed.trace.stalls(Stall::some, 10, seconds(5)));
}

TEST_CASE("a counter that went back is of another cgroup") {
  Feed feed;
  feed.run(seconds(10), 0.5, 1);
  feed.rest();
  feed.run(seconds(1), 0, 1);
  CHECK_FALSE(feed.trace.cpu_rate(seconds(5)));
  feed.run(seconds(5), 0, 0.25);
  CHECK(*feed.trace.cpu_rate(seconds(5)) == Approx(0.25).margin(0.02));
}

TEST_CASE("without PSI a job has a speed but no stalls") {
  Feed feed;
  JobTrace& trace = feed.trace;
  CgroupMemory memory = holding(mebibyte);
  memory.memory_stalls.reset();
  for (int i = 0; i < 10; ++i) {
    memory.cpu_time += milliseconds(500);
    memory.refaulted_anon_pages += 50;
    memory.anon += mebibyte;
    trace.add(boot(seconds(i)), memory);
  }
  CHECK_FALSE(trace.stall(Stall::some, seconds(5)));
  CHECK_FALSE(trace.stalls(Stall::full, 1, seconds(5)));
  CHECK(*trace.cpu_rate(seconds(5)) == Approx(0.5));
  CHECK(*trace.refaults_per_second(seconds(5)) == Approx(50));
  CHECK(*trace.resident_growth(seconds(5)) == std::int64_t{5} << 20);
  CHECK_FALSE(trace.reclaimed(seconds(5)));
  CHECK_FALSE(trace.hit_high(seconds(5)));
  memory.scanned_pages = 1;
  memory.high_events = 1;
  trace.add(boot(seconds(10)), memory);
  CHECK(trace.reclaimed(seconds(5)));
  CHECK(trace.hit_high(seconds(5)));
}

TEST_CASE("exhaustion is foreseen from the slope, and not where nothing falls") {
  MachineTrace trace(seconds(30));
  CHECK_FALSE(trace.exhausted_in(seconds(5)));
  for (std::uint64_t i = 0; i <= 10; ++i) trace.add(boot(seconds(i)), gibibyte - i * 10 * mebibyte, i);
  CHECK(*trace.slope(seconds(5)) == Approx(-10.0 * (1 << 20)));
  CHECK(*trace.exhausted_in(seconds(5)) == Microseconds(seconds(92)) + milliseconds(400));
  CHECK(trace.reclaimed(seconds(5)));
  for (std::uint64_t i = 11; i <= 20; ++i) trace.add(boot(seconds(i)), gibibyte, 10);
  CHECK_FALSE(trace.exhausted_in(seconds(5)));
  CHECK_FALSE(trace.reclaimed(seconds(5)));
}
