#include "core/top_protection.hpp"

#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "pressure_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;
using Condition = PressureJob::Condition;
using Changes = std::vector<ProtectionChange>;

namespace {

// Two gibibytes; a training that holds 900 MiB, and a batch job.
PressureSnapshot night(Microseconds time = seconds(100)) {
  PressureSnapshot snapshot{.now = at(time), .machine = {.total = 2000 * mebibyte, .available = 1000 * mebibyte}};
  snapshot.jobs = {job(1, train_rank, 900 * mebibyte), job(2, batch_rank, 400 * mebibyte)};
  return snapshot;
}

PressureSnapshot later(PressureSnapshot snapshot, Microseconds time) {
  snapshot.now.boot += time;
  snapshot.now.real += time;
  return snapshot;
}

Changes protects_training(Bytes mebibytes) {
  const Bytes low = mebibytes * mebibyte;
  return {{"mljob-train-1.slice", low}, {"mljob-train.slice", low}, {"mljob.slice", low}};
}

}  // namespace

TEST_CASE("the most important job is protected on its slice and on all above it, and once is enough") {
  TopProtection protection{PressureSettings{}};
  CHECK(protection.step(night()) == protects_training(900));
  CHECK(protection.step(later(night(), seconds(60))).empty());
}

TEST_CASE("what is not important, has just begun or does not run is not protected") {
  const PressureSettings settings;
  auto snapshot = night();
  const auto chosen = [&] {
    const auto* found = job_to_protect(settings, snapshot);
    return found == nullptr ? JobId{0} : found->id;
  };
  CHECK(chosen() == 1);
  for (const auto condition :
       {Condition::starting, Condition::frozen_by_user, Condition::parking, Condition::parked, Condition::stopping}) {
    snapshot.jobs[0].condition = condition;
    CHECK(chosen() == 2);
  }
  snapshot = night();
  snapshot.jobs[0].started = snapshot.now.boot - seconds(9);
  CHECK(chosen() == 2);
  snapshot.jobs[0].started = snapshot.now.boot - seconds(10);
  CHECK(chosen() == 1);
  snapshot.jobs[1].rank = train_rank;
  snapshot.jobs[1].priority = 1;
  CHECK(chosen() == 2);
  snapshot.jobs.clear();
  CHECK(chosen() == 0);
}

TEST_CASE("as much as it needs, within bounds") {
  const PressureSettings settings;
  auto snapshot = night();
  auto& top = snapshot.jobs[0];
  const auto amount = [&] { return protected_amount(settings, snapshot, top) / mebibyte; };
  top.memory.shmem = 50 * mebibyte + 17;
  top.memory.file = 500 * mebibyte;  // page cache is no need
  top.memory.swap = 300 * mebibyte;
  CHECK(amount() == 950);
  top.memory.max = 920 * mebibyte;
  CHECK(amount() == 920);
  top.memory.max = unlimited;
  top.memory.anon = 1900 * mebibyte;
  CHECK(amount() == 1600);  // four fifths of the machine
  snapshot.jobs_slice = CgroupMemory{};
  snapshot.jobs_slice->max = 1000 * mebibyte;
  CHECK(amount() == 800);
  top.memory = holding(63 * mebibyte);
  CHECK(amount() == 0);
}

TEST_CASE("the amount follows what the job needs when that has changed by more than an eighth") {
  TopProtection protection{PressureSettings{}};
  auto snapshot = night();
  REQUIRE(protection.step(snapshot) == protects_training(900));
  const auto needs = [&](Bytes mebibytes) {
    snapshot = later(snapshot, seconds(20));
    snapshot.jobs[0].memory = holding(mebibytes * mebibyte);
    return protection.step(snapshot);
  };
  CHECK(needs(1012).empty());
  CHECK(needs(1013) == protects_training(1013));
  CHECK(needs(887).empty());
  CHECK(needs(886) == protects_training(886));
  CHECK(needs(10).size() == 3);  // not worth it any more
  CHECK(needs(10).empty());
}

TEST_CASE("a job that grows fast is followed every ten seconds, another top job at once") {
  TopProtection protection{PressureSettings{}};
  auto snapshot = night();
  REQUIRE(protection.step(snapshot).size() == 3);
  snapshot = later(snapshot, seconds(9));
  snapshot.jobs[0].memory = holding(1200 * mebibyte);
  CHECK(protection.step(snapshot).empty());
  auto other = later(night(), seconds(9));
  other.jobs[0].condition = Condition::stopping;
  SECTION("itself") { CHECK(protection.step(later(snapshot, seconds(1))) == protects_training(1200)); }
  SECTION("another") {
    const Bytes low = 400 * mebibyte;
    CHECK(protection.step(other) == Changes{{"mljob-train-1.slice", 0},
                                            {"mljob-train.slice", 0},
                                            {"mljob-batch-2.slice", low},
                                            {"mljob-batch.slice", low},
                                            {"mljob.slice", low}});
  }
}

TEST_CASE("a slice that went with its job is not asked for any more, those above it are") {
  TopProtection protection{PressureSettings{}};
  REQUIRE(protection.step(night()).size() == 3);
  SECTION("nobody is left") {
    const PressureSnapshot empty{.now = at(seconds(200))};
    CHECK(protection.step(empty) == Changes{{"mljob-train.slice", 0}, {"mljob.slice", 0}});
    CHECK(protection.step(empty).empty());
  }
  SECTION("one of the same class takes its place") {
    auto snapshot = later(night(), seconds(1));
    snapshot.jobs[0] = job(3, train_rank, 900 * mebibyte);
    CHECK(protection.step(snapshot) == Changes{{"mljob-train-3.slice", 900 * mebibyte}});
  }
}

TEST_CASE("in a mode that does not act nothing is protected, and what was is given up") {
  PressureSettings settings;
  settings.mode = GENERATE(PressureMode::dry_run, PressureMode::off);
  TopProtection protection{settings};
  CHECK(protection.step(night()).empty());
  settings.mode = PressureMode::act;
  protection.apply_settings(settings);
  REQUIRE(protection.step(night()).size() == 3);
  settings.mode = PressureMode::off;
  protection.apply_settings(settings);
  CHECK(protection.step(night()) == Changes{{"mljob-train-1.slice", 0}, {"mljob-train.slice", 0}, {"mljob.slice", 0}});
}

TEST_CASE("after a restart what is in force is left or given up, whoever has it") {
  TopProtection protection{PressureSettings{}};
  protection.found("mljob.slice", 900 * mebibyte);
  SECTION("still right") {
    protection.found("mljob-train.slice", 900 * mebibyte);
    protection.found("mljob-train-1.slice", 900 * mebibyte);
    protection.found("mljob-batch-2.slice", 0);
    CHECK(protection.step(night()).empty());
  }
  SECTION("of another job") {
    protection.found("mljob-batch.slice", 900 * mebibyte);
    protection.found("mljob-batch-2.slice", 900 * mebibyte);
    CHECK(protection.step(night()) == Changes{{"mljob-batch-2.slice", 0},
                                              {"mljob-batch.slice", 0},
                                              {"mljob-train-1.slice", 900 * mebibyte},
                                              {"mljob-train.slice", 900 * mebibyte}});
  }
}

TEST_CASE("what could not be set is tried again, and not at every look") {
  TopProtection protection{PressureSettings{}};
  auto snapshot = night();
  REQUIRE(protection.step(snapshot).size() == 3);
  protection.failed("mljob-train.slice", snapshot.now.boot);
  CHECK(protection.step(later(snapshot, seconds(9))).empty());
  CHECK(protection.step(later(snapshot, seconds(10))) == Changes{{"mljob-train.slice", 900 * mebibyte}});
  SECTION("giving it up, too") {
    snapshot = later(snapshot, seconds(11));
    snapshot.jobs.clear();
    REQUIRE(protection.step(snapshot).size() == 2);
    protection.failed("mljob.slice", snapshot.now.boot);
    CHECK(protection.step(later(snapshot, seconds(10))) == Changes{{"mljob.slice", 0}});
  }
}

TEST_CASE("whatever happens, one job is protected at most, and never more than those above it") {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp,cert-msc32-c): the same tries each time
  const auto upto = [&](std::uint32_t most) { return std::uniform_int_distribution<std::uint32_t>(0, most)(random); };
  TopProtection protection{PressureSettings{}};
  std::map<std::string, Bytes> in_force;
  auto snapshot = night();
  for (int look = 0; look < 5000; ++look) {
    snapshot = later(snapshot, seconds(1));
    if (upto(9) == 0 && !snapshot.jobs.empty()) snapshot.jobs.erase(snapshot.jobs.begin());
    if (upto(9) == 0 && snapshot.jobs.size() < 6) {
      const auto id = static_cast<JobId>(look + 3);
      snapshot.jobs.push_back(job(id, static_cast<std::int32_t>(upto(2) + 1) * 100, upto(1500) * mebibyte));
      snapshot.jobs.back().started = snapshot.now.boot;
    }
    for (auto& job : snapshot.jobs) {
      if (upto(9) == 0) job.condition = static_cast<Condition>(upto(5));
      if (upto(4) == 0) job.memory.anon = upto(1500) * mebibyte;
    }
    for (const auto& [slice, low] : protection.step(snapshot)) in_force[slice] = low;
    std::erase_if(in_force, [](const auto& entry) { return entry.second == 0; });
    std::vector<std::string> jobs;
    for (const auto& [slice, low] : in_force) {
      const bool lives = std::any_of(snapshot.jobs.begin(), snapshot.jobs.end(), [&](const PressureJob& job) {
        return slice == "mljob-" + job.class_name + "-" + std::to_string(job.id) + ".slice";
      });
      if (lives) jobs.push_back(slice);
    }
    REQUIRE(jobs.size() <= 1);
    if (jobs.empty()) continue;
    const auto class_of = jobs[0].substr(0, jobs[0].rfind('-')) + ".slice";
    REQUIRE(in_force.at("mljob.slice") >= in_force.at(jobs[0]));
    REQUIRE(in_force.at(class_of) >= in_force.at(jobs[0]));
  }
}
