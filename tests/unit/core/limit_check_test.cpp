#include "core/limit_check.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace mljobd::core;
using Catch::Contains;

namespace {

constexpr Bytes gibi = Bytes{1} << 30;
using Warnings = std::vector<std::string>;

// What the kernel shows of a slice on which nothing was set but swap.
EffectiveLimits untouched() {
  return {.memory_max = unlimited,
          .memory_high = unlimited,
          .swap_max = 0,
          .tasks_max = unlimited,
          .cpu_weight = 100,
          .io_weight = 100,
          .cpu_quota_percent = unlimited_quota,
          .cpu_list = "0-7"};
}

JobSpec demanding() {
  JobSpec spec;
  spec.class_name = "train";
  spec.limits = {.memory = 8 * gibi,
                 .memory_max = 12 * gibi,
                 .memory_high = 10 * gibi,
                 .swap_max = gibi,
                 .tasks_max = 500,
                 .cpu_weight = 200,
                 .io_weight = 300,
                 .cpu_quota_percent = 400,
                 .cpu_list = "0-3"};
  return spec;
}

EffectiveLimits as_demanded() {
  return {.memory_max = 12 * gibi,
          .memory_high = 10 * gibi,
          .swap_max = gibi,
          .tasks_max = 500,
          .cpu_weight = 200,
          .io_weight = 300,
          .cpu_quota_percent = 400,
          .cpu_list = "0-3"};
}

const JobClass train{.name = "train", .cpu_weight = 700};

}  // namespace

TEST_CASE("limits in force are no news") {
  CHECK(limit_warnings(demanding(), &train, {0, 1, 2, 3}, as_demanded()).empty());
  CHECK(limit_warnings(JobSpec{}, &train, {}, untouched()).empty());
}

TEST_CASE("each limit that is not in force is one sentence with both values") {
  struct Row {
    void (*spoil)(EffectiveLimits& effective);
    std::string text;
  };
  const auto row = GENERATE(
      Row{[](EffectiveLimits& e) { e.memory_max = unlimited; }, "memory_max 12.0G was asked for, but unlimited is in"},
      Row{[](EffectiveLimits& e) { e.memory_max = 13 * gibi; }, "memory_max 12.0G was asked for, but 13.0G is in"},
      Row{[](EffectiveLimits& e) { e.memory_high = 9 * gibi; }, "memory_high 10.0G was asked for, but 9.0G is in"},
      Row{[](EffectiveLimits& e) { e.swap_max = 0; }, "swap_max 1.0G was asked for, but 0B is in"},
      Row{[](EffectiveLimits& e) { e.tasks_max = unlimited; }, "tasks_max 500 was asked for, but unlimited is in"},
      Row{[](EffectiveLimits& e) { e.cpu_weight = 100; }, "cpu_weight 200 was asked for, but 100 is in"},
      Row{[](EffectiveLimits& e) { e.io_weight = 100; }, "io_weight 300 was asked for, but 100 is in"},
      Row{[](EffectiveLimits& e) { e.cpu_quota_percent = unlimited_quota; },
          "cpu_quota_percent 400% was asked for, but no quota"},
      Row{[](EffectiveLimits& e) { e.cpu_list = "0-1"; }, "cpu_list 0-3 was asked for, but 0-1 is in"},
      Row{[](EffectiveLimits& e) { e.cpu_list = ""; }, "cpu_list 0-3 was asked for, but no CPU is in"},
      Row{[](EffectiveLimits& e) { e.memory_max.reset(); },
          "memory_max 12.0G was asked for, but nothing enforces it: the memory"},
      Row{[](EffectiveLimits& e) { e.memory_high.reset(); }, "memory_high 10.0G was asked for, but nothing"},
      Row{[](EffectiveLimits& e) { e.swap_max.reset(); }, "swap_max 1.0G was asked for, but nothing"},
      Row{[](EffectiveLimits& e) { e.tasks_max.reset(); }, "the pids controller"},
      Row{[](EffectiveLimits& e) { e.cpu_weight.reset(); },
          "cpu_weight 200 was asked for, but nothing enforces it: the cpu"},
      Row{[](EffectiveLimits& e) { e.io_weight.reset(); }, "the io controller"},
      Row{[](EffectiveLimits& e) { e.cpu_quota_percent.reset(); }, "cpu_quota_percent 400%"},
      Row{[](EffectiveLimits& e) { e.cpu_list.reset(); },
          "cpu_list 0-3 was asked for, but nothing enforces it: the cpuset controller is not delegated"});
  auto effective = as_demanded();
  row.spoil(effective);
  const auto warnings = limit_warnings(demanding(), &train, {0, 1, 2, 3}, effective);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings.front(), Contains(row.text));
}

TEST_CASE("memory rounded to pages is no difference, more is one") {
  JobSpec spec;
  spec.limits.memory = gibi + 5000;
  auto effective = untouched();
  const Bytes in_force = GENERATE(gibi + 5000, gibi + 4096, gibi);
  effective.memory_max = in_force;
  CHECK(limit_warnings(spec, nullptr, {}, effective).empty());
  effective.memory_max = gibi + 5001;  // above what was asked is never rounding
  CHECK(limit_warnings(spec, nullptr, {}, effective).size() == 1);
  effective.memory_max = gibi - 65536;
  CHECK(limit_warnings(spec, nullptr, {}, effective).size() == 1);
}

TEST_CASE("the claim is the ceiling where none is given") {
  JobSpec spec;
  spec.limits.memory = 4 * gibi;
  CHECK_THAT(limit_warnings(spec, nullptr, {}, untouched()).front(), Contains("memory_max 4.0G was asked for"));
}

TEST_CASE("a ceiling that nobody asked for is noticed") {
  auto effective = untouched();
  effective.memory_max = gibi;
  CHECK_THAT(limit_warnings(JobSpec{}, nullptr, {}, effective).front(), Contains("unlimited was asked for, but 1.0G"));
}

TEST_CASE("swap that was not asked for is none") {
  auto effective = untouched();
  effective.swap_max = unlimited;
  CHECK_THAT(limit_warnings(JobSpec{}, nullptr, {}, effective).front(), Contains("swap_max 0B was asked for"));
  // A kernel without swap accounting.
  effective.swap_max.reset();
  CHECK(limit_warnings(JobSpec{}, nullptr, {}, effective).empty());
  JobSpec spec;
  spec.limits.memory = effective.memory_max.emplace(gibi);
  REQUIRE(limit_warnings(spec, nullptr, {}, effective).size() == 1);
  CHECK_THAT(limit_warnings(spec, nullptr, {}, effective).front(), Contains("by swapping"));
}

TEST_CASE("CPUs in another notation are the same CPUs") {
  auto effective = as_demanded();
  effective.cpu_list = "0,1-2,3";
  CHECK(limit_warnings(demanding(), &train, {0, 1, 2, 3}, effective).empty());
}

TEST_CASE("cores of its own are checked as what was asked for") {
  JobSpec spec;
  spec.limits.cpus = 2;
  EffectiveLimits effective{.cpu_weight = 100, .cpu_list = "2-3"};
  CHECK(limit_warnings(spec, nullptr, {2, 3}, effective).empty());
  effective.cpu_list = "0-3";
  REQUIRE(limit_warnings(spec, nullptr, {2, 3}, effective).size() == 1);
  CHECK_THAT(limit_warnings(spec, nullptr, {2, 3}, effective).front(),
             Contains("cpus 2-3 was asked for, but 0-3 is in"));
}

TEST_CASE("what nobody asked for may be missing, but not the class's share of the CPU") {
  CHECK(limit_warnings(JobSpec{}, nullptr, {}, EffectiveLimits{}).empty());
  const auto warnings = limit_warnings(JobSpec{}, &train, {}, EffectiveLimits{});
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings.front(), Contains("the CPU share of class train, weight 700 was asked for, but nothing"));
}

TEST_CASE("the effective view shows what there is") {
  CHECK(effective_view({}).empty());
  CHECK(effective_view(as_demanded()) == ValueMap{{"memory_max", 12 * gibi},
                                                  {"memory_high", 10 * gibi},
                                                  {"swap_max", gibi},
                                                  {"tasks_max", std::uint64_t{500}},
                                                  {"cpu_weight", std::uint64_t{200}},
                                                  {"io_weight", std::uint64_t{300}},
                                                  {"cpu_quota_percent", std::uint32_t{400}},
                                                  {"cpu_list", "0-3"}});
  CHECK_FALSE(effective_view({.memory_low = 0}).contains("memory_low"));
  CHECK(effective_view({.memory_low = gibi}) == ValueMap{{"memory_low", gibi}});
}
