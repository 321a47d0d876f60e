#include "core/slurm_environment.hpp"

namespace mljobd::core {

bool is_script_job(const StringMap& labels) { return labels.contains(script_label); }

std::vector<std::string> slurm_environment(JobId id, std::uint32_t attempt, const std::optional<ArrayFacts>& array) {
  std::vector<std::string> variables;
  const auto add = [&](std::string_view name, std::uint32_t value) {
    variables.push_back(std::string(name).append("=").append(std::to_string(value)));
  };
  add("SLURM_JOB_ID", id);
  add("SLURM_JOBID", id);
  add("SLURM_RESTART_COUNT", attempt > 0 ? attempt - 1 : 0);
  if (!array) return variables;
  add("SLURM_ARRAY_JOB_ID", array->id);
  add("SLURM_ARRAY_TASK_ID", array->index);
  add("SLURM_ARRAY_TASK_COUNT", array->count);
  add("SLURM_ARRAY_TASK_MIN", array->minimum);
  add("SLURM_ARRAY_TASK_MAX", array->maximum);
  return variables;
}

}  // namespace mljobd::core
