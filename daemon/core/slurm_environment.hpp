// What a script written for Slurm reads about itself. What is known when it is submitted the client puts into the
// job's environment; this is the rest, which is known when an attempt starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

// The label by which the client marks a job that was submitted as a script; its value is the script's name.
inline constexpr std::string_view script_label = "script";

[[nodiscard]] bool is_script_job(const StringMap& labels);

// The array that a job is an element of.
struct ArrayFacts {
  JobId id = 0;  // of its first job
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint32_t minimum = 0;
  std::uint32_t maximum = 0;
};

// KEY=value: SLURM_JOB_ID, SLURM_JOBID, SLURM_RESTART_COUNT (0 for the first attempt, which is number 1), and for an
// element of an array SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _MAX.
[[nodiscard]] std::vector<std::string> slurm_environment(JobId id, std::uint32_t attempt,
                                                         const std::optional<ArrayFacts>& array);

}  // namespace mljobd::core
