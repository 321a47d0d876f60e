#include "core/job_environment.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/slurm_environment.hpp"

using namespace mljobd::core;

namespace {

Job job_9() {
  Job job;
  job.id = 9;
  job.spec.name = "fit";
  job.spec.class_name = "train";
  job.spec.environment = {"HOME=/home/alice", "OMP_NUM_THREADS=1"};
  job.attempt.number = 2;
  return job;
}

bool contains(const std::vector<std::string>& environment, const std::string& entry) {
  return std::find(environment.begin(), environment.end(), entry) != environment.end();
}

}  // namespace

TEST_CASE("a job knows who it is and what it may use") {
  Job job = job_9();
  job.spec.limits.memory = 1000;
  const auto environment = job_environment(job, {.cpus = 4, .cores = 2, .reserved = true});
  for (const auto* entry : {"HOME=/home/alice", "MLJOB_ID=9", "MLJOB_NAME=fit", "MLJOB_CLASS=train", "MLJOB_ATTEMPT=2",
                            "MLJOB_MEMORY=1000", "MLJOB_CPUS=4", "MKL_NUM_THREADS=4"}) {
    CAPTURE(entry);
    CHECK(contains(environment, entry));
  }
  CHECK_FALSE(contains(environment, "OMP_NUM_THREADS=4"));
  CHECK(environment.front() == "HOME=/home/alice");
}

TEST_CASE("one of an array knows its place, and a script what Slurm would tell it") {
  Job job = job_9();
  job.array = ArrayPlace{.array = 7, .index = 5, .count = 3, .minimum = 3, .maximum = 5};
  const auto plain = job_environment(job, {});
  CHECK(contains(plain, "MLJOB_ARRAY_ID=7"));
  CHECK(contains(plain, "MLJOB_ARRAY_INDEX=5"));
  CHECK_FALSE(contains(plain, "SLURM_ARRAY_TASK_ID=5"));
  job.spec.labels.emplace(script_label, "train.sh");
  const auto script = job_environment(job, {});
  CHECK(contains(script, "SLURM_ARRAY_TASK_ID=5"));
  CHECK(contains(script, "SLURM_JOB_ID=9"));
}
