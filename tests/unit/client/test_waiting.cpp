#include <catch2/catch.hpp>

#include "client/wait_tracker.hpp"

using namespace mljobd::client;

namespace {

JobRow done(std::uint32_t id, std::int32_t code) {
  return {.id = id, .state = "finished", .start_time = 1, .exit_code = code, .result = code == 0 ? "done" : "failed"};
}

}  // namespace

TEST_CASE("waiting for all ends with the largest exit code") {
  WaitTracker tracker({1, 2, 3}, WaitFor::done, WaitMode::all);
  tracker.update(done(1, 0));
  tracker.update(done(2, 5));
  CHECK_FALSE(tracker.complete());
  CHECK(tracker.outstanding() == std::vector<std::uint32_t>{3});
  tracker.update(done(3, 2));
  CHECK(tracker.complete());
  CHECK(tracker.exit_code() == 5);
}

TEST_CASE("waiting for any ends with the first") {
  WaitTracker tracker({1, 2}, WaitFor::done, WaitMode::any);
  tracker.update(done(2, 7));
  CHECK(tracker.complete());
  CHECK(tracker.exit_code() == 7);
}

TEST_CASE("only signals that can matter are worth a look") {
  WaitTracker tracker({1}, WaitFor::done, WaitMode::all);
  CHECK_FALSE(tracker.concerns(1, "running"));
  CHECK_FALSE(tracker.concerns(2, "finished"));
  CHECK(tracker.concerns(1, "finished"));
  tracker.update(done(1, 0));
  CHECK_FALSE(tracker.concerns(1, "finished"));
}

TEST_CASE("a success needs no look, any other end does") {
  WaitTracker tracker({1, 2}, WaitFor::done, WaitMode::all);
  CHECK_FALSE(tracker.succeeded(1, "running", ""));
  CHECK_FALSE(tracker.succeeded(1, "finished", "failed"));
  CHECK_FALSE(tracker.succeeded(3, "finished", "done"));
  CHECK(tracker.outstanding() == std::vector<std::uint32_t>{1, 2});
  CHECK(tracker.succeeded(1, "finished", "done"));
  CHECK(tracker.outstanding() == std::vector<std::uint32_t>{2});
  tracker.update(done(2, 3));
  CHECK(tracker.succeeded(2, "finished", "done"));
  CHECK(tracker.exit_code() == 3);
}

TEST_CASE("a job that was requeued has not finished") {
  WaitTracker tracker({1}, WaitFor::done, WaitMode::all);
  tracker.update({.id = 1, .state = "queued", .start_time = 5});
  CHECK_FALSE(tracker.complete());
}

TEST_CASE("a parked job has not finished") {
  WaitTracker tracker({1}, WaitFor::done, WaitMode::all);
  CHECK_FALSE(tracker.concerns(1, "parked"));
  tracker.update({.id = 1, .state = "parked", .start_time = 5});
  CHECK_FALSE(tracker.complete());
}

TEST_CASE("waiting for the start") {
  WaitTracker tracker({1}, WaitFor::running, WaitMode::all);
  SECTION("it runs") {
    CHECK(tracker.concerns(1, "running"));
    tracker.update({.id = 1, .state = "running"});
    CHECK(tracker.exit_code() == 0);
  }
  SECTION("it stands still, having started") {
    const auto* state = GENERATE("frozen", "parked");
    CHECK(tracker.concerns(1, state));
    tracker.update({.id = 1, .state = state});
    CHECK(tracker.exit_code() == 0);
  }
  SECTION("it ran and is over: what one wanted has happened") {
    tracker.update(done(1, 3));
    CHECK(tracker.exit_code() == 0);
  }
  SECTION("it will never run") {
    tracker.update({.id = 1, .state = "finished", .result = "cancelled"});
    CHECK(tracker.exit_code() == 143);
  }
  CHECK(tracker.complete());
}
