#include "core/plan_preview.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "scheduler_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::fixture;
using std::chrono::minutes;

namespace {

constexpr RealTime now{std::chrono::hours(1)};

PreviewInput state_of(std::vector<WaitingJob> waiting_jobs, std::vector<RunningJob> running = {}) {
  PreviewInput preview_input{.state = with_cores(std::move(waiting_jobs), std::move(running))};
  preview_input.state.now.real = now;
  return preview_input;
}

WaitingJob lasting(JobId id, Bytes claim, Microseconds limit, std::string_view class_name = "batch") {
  return limited(waiting(id, class_name, claim), limit);
}

// "2 +30m, 3 ?": the jobs with the minutes until they start.
std::string order_and_minutes(const std::vector<PreviewEntry>& entries) {
  std::string text;
  for (const auto& entry : entries) {
    text += (text.empty() ? "" : ", ") + std::to_string(entry.id);
    text += entry.start ? " +" + std::to_string((*entry.start - now) / minutes(1)) + "m" : " ?";
  }
  return text;
}

}  // namespace

TEST_CASE("what fits starts at once, the rest when time limits make room") {
  const auto entries = preview(state_of({lasting(1, 10 * gibi, minutes(30)), lasting(2, 10 * gibi, minutes(20)),
                                         lasting(3, 4 * gibi, minutes(5)), lasting(4, 16 * gibi, minutes(1))}));
  CHECK(order_and_minutes(entries) == "1 +0m, 3 +0m, 2 +30m, 4 +50m");
  CHECK(entries[0].reason == PendingReason::none);
  CHECK(entries[2] == PreviewEntry{.id = 2,
                                   .start = now + minutes(30),
                                   .reason = PendingReason::resources_memory,
                                   .detail = "needs 10.0G, 6.0G free, waits for 1"});
}

TEST_CASE("a job that slips in is shown where it does") {
  CHECK(order_and_minutes(preview(state_of(
            {lasting(1, 12 * gibi, minutes(10)), lasting(2, 2 * gibi, minutes(40)), lasting(3, 2 * gibi, minutes(20))},
            {runs(41, 13 * gibi, 0, minutes(30))}))) == "3 +0m, 1 +30m, 2 +30m");
}

TEST_CASE("a class of one runs one after another") {
  CHECK(order_and_minutes(preview(state_of({lasting(1, 0, minutes(30), "train"), lasting(2, 0, minutes(20), "train"),
                                            lasting(3, 0, minutes(10), "train")}))) == "1 +0m, 2 +30m, 3 +50m");
}

TEST_CASE("nobody can tell when a job without a time limit ends") {
  const auto entries = preview(state_of({lasting(1, 12 * gibi, minutes(10))}, {runs(41, 13 * gibi)}));
  CHECK(entries ==
        std::vector<PreviewEntry>{
            {.id = 1, .reason = PendingReason::resources_memory, .detail = "needs 12.0G, 3.0G free, waits for 41"}});
  CHECK(order_and_minutes(preview(state_of({waiting(1, "train", 0), lasting(2, 0, minutes(1), "train")}))) ==
        "1 +0m, 2 ?");
}

TEST_CASE("held jobs and impossible ones have no start, begin times are kept") {
  auto held = lasting(1, 0, minutes(1));
  held.held = true;
  auto later = lasting(3, 0, minutes(1));
  later.begin = now + minutes(90);
  CHECK(order_and_minutes(preview(state_of({held, lasting(2, 17 * gibi, minutes(1)), later}))) == "3 +90m, 1 ?, 2 ?");
}

TEST_CASE("a pipeline follows its dependencies") {
  auto night = state_of({lasting(1, 0, minutes(30)), lasting(2, 0, minutes(60)), lasting(3, 0, minutes(10)),
                         lasting(4, 0, minutes(10)), lasting(5, 0, minutes(10)), lasting(6, 0, minutes(10))});
  night.dependents = {{.id = 2, .after = {{DependencyKind::ok, 1}}},
                      {.id = 3, .after = {{DependencyKind::ok, 2}}},
                      {.id = 4, .after = {{DependencyKind::start, 2}}},
                      {.id = 5, .after = {{DependencyKind::notok, 2}}},
                      {.id = 6, .after = {{DependencyKind::any, 40}}}};
  night.lookup = [](JobId id) {
    return KnownJob{.phase = id == 40 ? KnownJob::Phase::finished : KnownJob::Phase::waiting};
  };
  const auto entries = preview(night);
  // 5 runs only if 2 fails, and here all end well.
  CHECK(order_and_minutes(entries) == "1 +0m, 6 +0m, 2 +30m, 4 +30m, 3 +90m, 5 ?");
  CHECK(entries.back().detail == "waits for 2 to end in failure");
}

TEST_CASE("a preview looks only so far ahead") {
  std::vector<WaitingJob> queue;
  for (JobId id = 1; id <= 4; ++id) queue.push_back(lasting(id, 16 * gibi, minutes(10)));
  CHECK(order_and_minutes(preview(state_of(queue), 1000)) == "1 +0m, 2 +10m, 3 +20m, 4 +30m");
  // The first plan and the one after its start.
  CHECK(order_and_minutes(preview(state_of(queue), 4 + 3)) == "1 +0m, 2 ?, 3 ?, 4 ?");
  CHECK(order_and_minutes(preview(state_of(queue), 1)) == "1 +0m, 2 ?, 3 ?, 4 ?");
}
