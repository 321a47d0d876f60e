#include "systemd/unit_jobs.hpp"

#include <catch2/catch.hpp>

using namespace mljobd;
using systemd::UnitJobKind;
using systemd::UnitJobs;

namespace {

UnitJobs::Waiting waiting(const char* unit, int& answers) {
  return {
      .kind = UnitJobKind::start, .unit = unit, .done = [&answers](const core::Expected<std::string>&) { ++answers; }};
}

void answer(const std::vector<UnitJobs::Waiting>& handlers) {
  for (const auto& handler : handlers) handler.done(std::string("done"));
}

}  // namespace

TEST_CASE("an ending that overtakes the reply is not lost") {
  UnitJobs jobs;
  int answers = 0;
  jobs.call_sent();
  CHECK(jobs.ended("/job/7", "a.service", "failed").empty());
  CHECK(jobs.expect("/job/7", waiting("a.service", answers)) == "failed");
  jobs.call_answered();
  CHECK(jobs.idle());
}

TEST_CASE("two stops of one unit share systemd's job and are both answered") {
  UnitJobs jobs;
  int answers = 0;
  jobs.call_sent();
  jobs.call_sent();
  CHECK_FALSE(jobs.expect("/job/7", waiting("a.service", answers)));
  CHECK_FALSE(jobs.expect("/job/7", waiting("a.service", answers)));
  jobs.call_answered();
  jobs.call_answered();
  CHECK_FALSE(jobs.idle());
  CHECK(jobs.paths_and_units() == std::vector<std::pair<std::string, std::string>>{{"/job/7", "a.service"}});
  answer(jobs.ended("/job/8", "b.service", "done"));
  CHECK(answers == 0);
  answer(jobs.ended("/job/7", "a.service", "done"));
  CHECK(answers == 2);
  CHECK(jobs.idle());
}

TEST_CASE("when the reply was lost, the unit's name finds who waits") {
  UnitJobs jobs;
  int answers = 0;
  jobs.expect_any(waiting("a.service", answers));
  CHECK_FALSE(jobs.idle());
  answer(jobs.ended("/job/9", "a.service", "done"));
  CHECK(answers == 1);
  CHECK(jobs.idle());
}

TEST_CASE("endings that nobody can ask for are not kept") {
  UnitJobs jobs;
  int answers = 0;
  CHECK(jobs.ended("/job/7", "a.service", "done").empty());
  jobs.call_sent();
  CHECK_FALSE(jobs.expect("/job/7", waiting("a.service", answers)));

  constexpr int more_than_are_kept = 2000;
  static_cast<void>(jobs.ended("/job/early", "b.service", "done"));
  for (int i = 0; i < more_than_are_kept; ++i) {
    static_cast<void>(jobs.ended("/job/x" + std::to_string(i), "c.service", "done"));
  }
  CHECK_FALSE(jobs.expect("/job/early", waiting("b.service", answers)));
  CHECK(jobs.expect("/job/x1999", waiting("c.service", answers)) == "done");
}
