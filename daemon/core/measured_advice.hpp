// Advice from what a job did: it beats any table once the job has run.
#pragma once

#include "core/job.hpp"
#include "core/storage.hpp"
#include "core/types.hpp"
#include "core/worker_advice.hpp"

namespace mljobd::core {

struct JobMeasurements {
  JobId job = 0;
  bool finished = false;
  Microseconds run_time{0};  // frozen time not counted
  Usage usage{};
  CpuAllotment allotment{};
  Storage storage{};  // of its data
};

// Judges the whole run so far; one shorter than ten seconds is mostly its start and is not judged.
[[nodiscard]] Advice advise_job(const JobMeasurements& measured);

}  // namespace mljobd::core
