#include "core/dependencies.hpp"

#include <map>
#include <string>

#include <catch2/catch.hpp>

using namespace mljobd::core;

namespace {

using Phase = KnownJob::Phase;

KnownJob finished(JobResult result, bool has_started = true) {
  return {.phase = Phase::finished, .has_started = has_started, .result = result};
}

// 1 waits, 2 runs, 3 is done, 4 failed, 5 was cancelled before it started, 6 was requeued; nothing else is known.
KnownJob look_up(JobId id) {
  static const std::map<JobId, KnownJob> jobs{
      {1, {.phase = Phase::waiting}},
      {2, {.phase = Phase::active, .has_started = true}},
      {3, finished(JobResult::done)},
      {4, finished(JobResult::failed)},
      {5, finished(JobResult::cancelled, false)},
      {6, {.phase = Phase::waiting, .has_started = true}},
  };
  const auto found = jobs.find(id);
  return found == jobs.end() ? KnownJob{} : found->second;
}

DependencyCheck check(std::vector<Dependency> dependencies) { return check_dependencies(dependencies, look_up); }

DependencyCheck satisfied() { return {}; }
DependencyCheck pending(std::string detail) { return {DependencyStatus::pending, std::move(detail)}; }
DependencyCheck never(std::string detail) { return {DependencyStatus::never, std::move(detail)}; }

}  // namespace

namespace Catch {
template <>
struct StringMaker<DependencyCheck> {
  static std::string convert(const DependencyCheck& value) {
    return std::to_string(static_cast<int>(value.status)) + " (" + value.detail + ")";
  }
};
}  // namespace Catch

TEST_CASE("a job without dependencies waits for nobody") { CHECK(check({}) == satisfied()); }

TEST_CASE("a dependency on a job that ended well") {
  CHECK(check({{DependencyKind::ok, 1}}) == pending("waits for 1 to end well"));
  CHECK(check({{DependencyKind::ok, 2}}) == pending("waits for 2 to end well"));
  CHECK(check({{DependencyKind::ok, 3}}) == satisfied());
  CHECK(check({{DependencyKind::ok, 4}}) == never("job 4 ended as failed, not well"));
  CHECK(check({{DependencyKind::ok, 5}}) == never("job 5 ended as cancelled, not well"));
  CHECK(check({{DependencyKind::ok, 6}}) == pending("waits for 6 to end well"));
  CHECK(check({{DependencyKind::ok, 7}}) == never("job 7 is not known"));
}

TEST_CASE("only one way to end is to end well") {
  for (int value = 0; value <= static_cast<int>(JobResult::lost); ++value) {
    const auto result = static_cast<JobResult>(value);
    INFO(to_word(result));
    const auto known = [&](JobId) { return finished(result); };
    const bool well = result == JobResult::done;
    const std::vector<Dependency> ok{{DependencyKind::ok, 9}};
    const std::vector<Dependency> notok{{DependencyKind::notok, 9}};
    CHECK((check_dependencies(ok, known).status == DependencyStatus::satisfied) == well);
    CHECK((check_dependencies(notok, known).status == DependencyStatus::satisfied) == !well);
  }
}

TEST_CASE("a dependency on a job that ended in whatever way") {
  CHECK(check({{DependencyKind::any, 1}}) == pending("waits for 1 to end"));
  CHECK(check({{DependencyKind::any, 2}}) == pending("waits for 2 to end"));
  CHECK(check({{DependencyKind::any, 3}}) == satisfied());
  CHECK(check({{DependencyKind::any, 4}}) == satisfied());
  CHECK(check({{DependencyKind::any, 5}}) == satisfied());
  CHECK(check({{DependencyKind::any, 6}}) == pending("waits for 6 to end"));
  CHECK(check({{DependencyKind::any, 7}}) == never("job 7 is not known"));
}

TEST_CASE("a dependency on a job that failed") {
  CHECK(check({{DependencyKind::notok, 2}}) == pending("waits for 2 to end in failure"));
  CHECK(check({{DependencyKind::notok, 3}}) == never("job 3 ended as done, not in failure"));
  CHECK(check({{DependencyKind::notok, 4}}) == satisfied());
  CHECK(check({{DependencyKind::notok, 7}}) == never("job 7 is not known"));
}

TEST_CASE("a dependency on a job that started") {
  CHECK(check({{DependencyKind::start, 1}}) == pending("waits for 1 to start"));
  CHECK(check({{DependencyKind::start, 2}}) == satisfied());
  CHECK(check({{DependencyKind::start, 4}}) == satisfied());
  CHECK(check({{DependencyKind::start, 5}}) == never("job 5 ended as cancelled without having started"));
  CHECK(check({{DependencyKind::start, 6}}) == satisfied());
  CHECK(check({{DependencyKind::start, 7}}) == never("job 7 is not known"));
}

TEST_CASE("all dependencies have to come true, and one that never will decides") {
  CHECK(check({{DependencyKind::ok, 3}, {DependencyKind::any, 4}}) == satisfied());
  CHECK(check({{DependencyKind::ok, 3}, {DependencyKind::ok, 1}, {DependencyKind::start, 1}}) ==
        pending("waits for 1 to end well, and 1 more"));
  CHECK(check({{DependencyKind::ok, 1}, {DependencyKind::ok, 4}}) == never("job 4 ended as failed, not well"));
}

TEST_CASE("what others may know of a job") {
  Job job{.id = 1};
  CHECK(known_job(job) == KnownJob{.phase = Phase::waiting});
  job.state = Held{};
  CHECK(known_job(job) == KnownJob{.phase = Phase::waiting});
  job.state = Starting{};
  job.attempt.number = 1;
  CHECK(known_job(job) == KnownJob{.phase = Phase::active});
  job.state = Running{};
  job.attempt.started = RealTime(std::chrono::seconds(5));
  CHECK(known_job(job) == KnownJob{.phase = Phase::active, .has_started = true});
  job.state = Finished{.result = JobResult::oom};
  CHECK(known_job(job) == finished(JobResult::oom));
  // Requeued: the first attempt left only its number.
  job.state = Queued{};
  job.attempt = Attempt{.number = 1};
  CHECK(known_job(job) == KnownJob{.phase = Phase::waiting, .has_started = true});
  job.state = Starting{};
  job.attempt.number = 2;
  CHECK(known_job(job) == KnownJob{.phase = Phase::active, .has_started = true});
  // Cancelled in the queue.
  job.state = Finished{.result = JobResult::cancelled};
  job.attempt = {};
  CHECK(known_job(job) == finished(JobResult::cancelled, false));
}

TEST_CASE("every kind of dependency has a word that leads back to it") {
  for (const auto* word : {"ok", "any", "notok", "start"}) {
    const auto kind = dependency_kind_from(word);
    REQUIRE(kind);
    CHECK(to_word(*kind) == word);
  }
  CHECK_FALSE(dependency_kind_from("afterok"));
  CHECK_FALSE(dependency_kind_from(""));
}
