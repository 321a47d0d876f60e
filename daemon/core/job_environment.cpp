#include "core/job_environment.hpp"

#include <optional>

#include "core/slurm_environment.hpp"

namespace mljobd::core {
namespace {

void append(std::vector<std::string>& environment, const std::vector<std::string>& more) {
  environment.insert(environment.end(), more.begin(), more.end());
}

std::optional<ArrayFacts> array_facts(const Job& job) {
  if (!job.array) return std::nullopt;
  return ArrayFacts{.id = job.array->array,
                    .index = job.array->index,
                    .count = job.array->count,
                    .minimum = job.array->minimum,
                    .maximum = job.array->maximum};
}

}  // namespace

std::vector<std::string> job_environment(const Job& job, const CpuAllotment& allotment) {
  std::vector<std::string> environment = job.spec.environment;
  environment.push_back("MLJOB_ID=" + std::to_string(job.id));
  environment.push_back("MLJOB_NAME=" + job.spec.name);
  environment.push_back("MLJOB_CLASS=" + job.spec.class_name);
  environment.push_back("MLJOB_ATTEMPT=" + std::to_string(job.attempt.number));
  if (const auto ceiling = memory_ceiling(job.spec.limits); ceiling != unlimited) {
    environment.push_back("MLJOB_MEMORY=" + std::to_string(ceiling));
  }
  if (job.array) {
    environment.push_back("MLJOB_ARRAY_ID=" + std::to_string(job.array->array));
    environment.push_back("MLJOB_ARRAY_INDEX=" + std::to_string(job.array->index));
  }
  append(environment, cpu_environment(allotment, job.spec.environment));
  if (is_script_job(job.spec.labels)) {
    append(environment, slurm_environment(job.id, job.attempt.number, array_facts(job)));
  }
  return environment;
}

}  // namespace mljobd::core
