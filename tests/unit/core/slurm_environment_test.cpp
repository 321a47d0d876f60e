#include "core/slurm_environment.hpp"

#include <catch2/catch.hpp>

using namespace mljobd::core;
using Variables = std::vector<std::string>;

TEST_CASE("a script finds its id and how often it was restarted") {
  CHECK(slurm_environment(42, 1, std::nullopt) ==
        Variables{"SLURM_JOB_ID=42", "SLURM_JOBID=42", "SLURM_RESTART_COUNT=0"});
  CHECK(slurm_environment(42, 3, std::nullopt).back() == "SLURM_RESTART_COUNT=2");
  CHECK(slurm_environment(42, 0, std::nullopt).back() == "SLURM_RESTART_COUNT=0");
}

TEST_CASE("an element of an array finds its place in it") {
  const ArrayFacts array{.id = 40, .index = 5, .count = 4, .minimum = 1, .maximum = 7};
  CHECK(slurm_environment(42, 1, array) == Variables{"SLURM_JOB_ID=42", "SLURM_JOBID=42", "SLURM_RESTART_COUNT=0",
                                                     "SLURM_ARRAY_JOB_ID=40", "SLURM_ARRAY_TASK_ID=5",
                                                     "SLURM_ARRAY_TASK_COUNT=4", "SLURM_ARRAY_TASK_MIN=1",
                                                     "SLURM_ARRAY_TASK_MAX=7"});
}

TEST_CASE("a script job is told by its label") {
  CHECK(is_script_job({{"script", "train.sh"}, {"team", "vision"}}));
  CHECK_FALSE(is_script_job({{"team", "vision"}}));
}
