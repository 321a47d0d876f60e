#include "core/resources.hpp"

#include <catch2/catch.hpp>

using namespace mljobd::core;

namespace {

const CpuTopology topology{.cores = {{.cpus = {0, 4}, .node = 0},
                                     {.cpus = {1, 5}, .node = 0},
                                     {.cpus = {2, 6}, .node = 1},
                                     {.cpus = {3, 7}, .node = 1}}};

}  // namespace

TEST_CASE("what is reserved and what is free add up") {
  CHECK(resources_view(topology, {{5, {1, 5}}, {6, {2, 6}}}, {.total = 100, .jobs_max = 90, .reserved = 30}) ==
        ValueMap{{"logical_cpus", 8U},
                 {"cores", 4U},
                 {"cores_for_jobs", 3U},
                 {"cores_reserved", 2U},
                 {"cores_free", 1U},
                 {"shared_cpus", "0,3-4,7"},
                 {"numa_nodes", 2U},
                 {"memory_total", Bytes{100}},
                 {"memory_jobs", Bytes{90}},
                 {"memory_reserved", Bytes{30}},
                 {"memory_free", Bytes{60}}});
}

TEST_CASE("more reserved than there is leaves nothing free") {
  // Adopted jobs do not wait for room, and CPUs may go offline.
  const auto view = resources_view({.cores = {topology.cores[0]}}, {{5, {0, 4}}}, {.jobs_max = 90, .reserved = 91});
  CHECK(view.at("cores_free") == Value(0U));
  CHECK(view.at("shared_cpus") == Value(""));
  CHECK(view.at("memory_free") == Value(Bytes{0}));
}
