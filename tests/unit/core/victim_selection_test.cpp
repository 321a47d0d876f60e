#include "core/victim_selection.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "pressure_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;
using Condition = PressureJob::Condition;

namespace {

struct Scene {
  std::vector<PressureJob> jobs{job(1, train_rank, 900 * mebibyte)};
  VictimQuestion question{.now = at(minutes(10)),
                          .capacity = 2000 * mebibyte,
                          .deficit = 200 * mebibyte,
                          .machine = {.swap_total = 2000 * mebibyte, .swap_free = 2000 * mebibyte}};
  std::map<JobId, Contender> remembered{};

  PressureJob& add(PressureJob added) { return jobs.emplace_back(std::move(added)); }
  [[nodiscard]] std::vector<Contender> contenders() const {
    std::vector<Contender> list;
    for (const auto& entry : jobs) {
      const auto known = remembered.find(entry.id);
      list.push_back(known == remembered.end() ? Contender{} : known->second);
      list.back().job = &entry;
    }
    return list;
  }
  // 0: nobody.
  JobId chosen() {
    question.top = top_job(jobs);
    const auto first = select();
    std::reverse(jobs.begin(), jobs.end());
    CHECK(select() == first);
    return first;
  }
  std::string verdict(JobId id) {
    question.top = top_job(jobs);
    const auto list = contenders();
    const auto lines = weigh({}, question, list, select_victim({}, question, list), list.size());
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const Candidate& c) { return c.id == id; });
    return line == lines.end() ? "not shown" : line->verdict;
  }

 private:
  [[nodiscard]] JobId select() const {
    const auto* const victim = select_victim({}, question, contenders());
    return victim == nullptr ? 0 : victim->id;
  }
};

}  // namespace

TEST_CASE("the top job is the most important that runs") {
  std::vector<PressureJob> jobs{job(3, batch_rank, 1), job(2, train_rank, 1), job(1, train_rank, 1)};
  jobs[1].started = jobs[2].started + seconds(1);
  CHECK(top_job(jobs) == JobId{1});
  jobs[1].priority = 1;
  CHECK(top_job(jobs) == JobId{2});
  jobs[1].condition = Condition::parked;
  CHECK(top_job(jobs) == JobId{1});
  jobs[2].condition = Condition::frozen_by_user;
  CHECK(top_job(jobs) == JobId{3});
  jobs[0].condition = Condition::stopping;
  CHECK_FALSE(top_job(jobs));
  jobs[1].condition = Condition::starting;
  CHECK(top_job(jobs) == JobId{2});
  CHECK_FALSE(top_job({}));
}

TEST_CASE("the order of the victims") {
  Scene scene;
  auto& first = scene.add(job(2, batch_rank, 300 * mebibyte));
  SECTION("rank before everything") {
    first.requeue = false;
    scene.add(job(3, validate_rank, 300 * mebibyte));
    CHECK(scene.chosen() == 2);
    CHECK(scene.verdict(3) == "more-important");
  }
  SECTION("then priority") {
    first.priority = 1;
    scene.add(job(3, batch_rank, 100 * mebibyte));
    CHECK(scene.chosen() == 3);
    CHECK(scene.verdict(2) == "more-important");
  }
  SECTION("then who can be started again") {
    first.requeue = false;
    scene.add(job(3, batch_rank, 100 * mebibyte));
    CHECK(scene.chosen() == 3);
    CHECK(scene.verdict(2) == "not-restartable");
  }
  SECTION("a checkpoint is as good as a requeue") {
    first.requeue = false;
    first.checkpoint_grace = seconds(5);
    scene.add(job(3, batch_rank, 250 * mebibyte)).requeue = false;
    CHECK(scene.chosen() == 2);
  }
  SECTION("whether it can be started again does not matter to who is parked") {
    scene.question.measure = Measure::park;
    first.requeue = false;
    scene.add(job(3, batch_rank, 500 * mebibyte));
    CHECK(scene.chosen() == 2);
  }
  SECTION("then enough before too little") {
    scene.add(job(3, batch_rank, 190 * mebibyte));
    CHECK(scene.chosen() == 2);
    CHECK(scene.verdict(3) == "frees-too-little");
  }
  SECTION("then the smallest that is enough") {
    scene.add(job(3, batch_rank, 210 * mebibyte));
    CHECK(scene.chosen() == 3);
    CHECK(scene.verdict(2) == "frees-more-than-needed");
  }
  SECTION("else the largest") {
    scene.question.deficit = 900 * mebibyte;
    scene.add(job(3, batch_rank, 500 * mebibyte));
    CHECK(scene.chosen() == 3);
    CHECK(scene.verdict(2) == "frees-less");
  }
  SECTION("then who grows, among those of about the same size") {
    scene.add(job(3, batch_rank, 301 * mebibyte)).started = first.started - seconds(1);
    scene.remembered[3].grows = true;
    CHECK(scene.chosen() == 3);
    CHECK(scene.verdict(2) == "grows-less");
  }
  SECTION("then who began last") {
    scene.add(job(3, batch_rank, 301 * mebibyte)).started = scene.jobs[1].started - seconds(1);
    CHECK(scene.chosen() == 2);
    CHECK(scene.verdict(3) == "older");
  }
}

TEST_CASE("who is never asked to give way, and why") {
  Scene scene;
  CHECK(scene.chosen() == 0);
  CHECK(scene.verdict(1) == "top");
  scene.add(job(2, batch_rank, 300 * mebibyte));
  REQUIRE(scene.chosen() == 2);
  REQUIRE(scene.verdict(2) == "chosen");
  PressureJob& changed = *std::find_if(scene.jobs.begin(), scene.jobs.end(), [](const auto& j) { return j.id == 2; });
  std::string expected;
  SECTION("empty") {
    changed.memory.populated = false;
    expected = "empty";
  }
  SECTION("on its way out") {
    changed.condition = Condition::stopping;
    expected = "stopping";
  }
  SECTION("parked") {
    changed.condition = Condition::parked;
    expected = "parked";
  }
  SECTION("starting") {
    changed.condition = Condition::starting;
    expected = "starting";
  }
  SECTION("young") {
    changed.started = scene.question.now.boot - milliseconds(1900);
    expected = "young";
  }
  SECTION("survived a kill") {
    scene.remembered[2].unkillable = true;
    expected = "unkillable";
  }
  SECTION("small") {
    changed.memory = holding(19 * mebibyte);
    expected = "too-small";
  }
  SECTION("page cache is not need") {
    changed.memory = holding(mebibyte);
    changed.memory.file = changed.memory.current = 1000 * mebibyte;
    expected = "too-small";
  }
  SECTION("what is in swap already frees nothing") {
    changed.memory = holding(mebibyte);
    changed.memory.swap = 1000 * mebibyte;
    expected = "too-small";
  }
  CHECK(scene.chosen() == 0);
  CHECK(scene.verdict(2) == expected);
}

TEST_CASE("an emergency takes the young and the small, but never the top job") {
  Scene scene;
  scene.question.emergency = true;
  scene.add(job(2, validate_rank, 19 * mebibyte)).started = scene.question.now.boot - milliseconds(10);
  CHECK(scene.chosen() == 2);
  scene.add(job(3, batch_rank, 18 * mebibyte)).condition = Condition::starting;
  CHECK(scene.chosen() == 3);
  scene.question.measure = Measure::park;
  scene.question.machine = {};
  CHECK(scene.chosen() == 0);
}

TEST_CASE("only what can be parked is parked") {
  Scene scene;
  scene.question.measure = Measure::park;
  scene.add(job(2, batch_rank, 300 * mebibyte));
  scene.add(job(3, validate_rank, 400 * mebibyte));
  CHECK(scene.chosen() == 2);
  auto& batch = *std::find_if(scene.jobs.begin(), scene.jobs.end(), [](const auto& j) { return j.id == 2; });
  SECTION("the next one rather than a job that cannot be") {
    batch.unparkable = "holds a GPU";
    CHECK(scene.chosen() == 3);
    CHECK(scene.verdict(2) == "unparkable (holds a GPU)");
  }
  SECTION("nor one whose park failed") {
    scene.remembered[2].park_failed = true;
    CHECK(scene.chosen() == 3);
    CHECK(scene.verdict(2) == "park-failed");
  }
  SECTION("swap holds it with what is there already, within the share") {
    scene.question.machine.swap_free = 799 * mebibyte;  // 1201 used; 1600 allowed
    CHECK(scene.chosen() == 2);
    CHECK(scene.verdict(3) == "no-swap-room");
    scene.question.machine.swap_free = 600 * mebibyte;
    CHECK(scene.chosen() == 0);
  }
  SECTION("no swap, no park") {
    scene.question.machine = {};
    CHECK(scene.chosen() == 0);
    CHECK(scene.verdict(2) == "no-swap-room");
  }
  SECTION("a job that its user froze is the easiest to park") {
    batch.condition = Condition::frozen_by_user;
    CHECK(scene.chosen() == 2);
  }
  SECTION("a job being parked is not parked again, but it can be killed") {
    batch.condition = Condition::parking;
    CHECK(scene.chosen() == 3);
    scene.question.measure = Measure::kill;
    CHECK(scene.chosen() == 2);
  }
}

TEST_CASE("only who grows is throttled while somebody does") {
  Scene scene;
  scene.question.measure = Measure::throttle;
  scene.add(job(2, batch_rank, 300 * mebibyte));
  scene.add(job(3, validate_rank, 400 * mebibyte));
  CHECK(scene.chosen() == 2);
  scene.question.growers_only = true;
  CHECK(scene.chosen() == 0);
  scene.remembered[3].grows = true;
  CHECK(scene.chosen() == 3);
  CHECK(scene.verdict(2) == "not-growing");
  scene.remembered[3].throttled = true;
  CHECK(scene.chosen() == 0);
  CHECK(scene.verdict(3) == "throttled");
}

TEST_CASE("a record shows the chosen one first, and not everybody") {
  Scene scene;
  for (JobId id = 2; id < 100; ++id) scene.add(job(id, batch_rank, 300 * mebibyte));
  scene.question.top = JobId{1};
  const auto contenders = scene.contenders();
  const auto* const chosen = select_victim({}, scene.question, contenders);
  REQUIRE(chosen != nullptr);
  const auto lines = weigh({}, scene.question, contenders, chosen, 10);
  REQUIRE(lines.size() == 10);
  CHECK(lines.front() == Candidate{chosen->id, chosen->name, "batch", batch_rank, 300 * mebibyte, "chosen"});
  CHECK(std::count_if(lines.begin(), lines.end(), [](const Candidate& c) { return c.verdict == "chosen"; }) == 1);
}
