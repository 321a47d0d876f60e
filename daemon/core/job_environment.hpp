// What a job finds in its environment beside what its owner gave it.
#pragma once

#include <string>
#include <vector>

#include "core/job.hpp"
#include "core/worker_advice.hpp"

namespace mljobd::core {

// KEY=value, the owner's first: MLJOB_ID, MLJOB_NAME, MLJOB_CLASS, MLJOB_ATTEMPT, MLJOB_MEMORY (bytes, where there is a
// ceiling), MLJOB_ARRAY_ID and MLJOB_ARRAY_INDEX in an array, what cpu_environment adds, and for a script what Slurm
// would tell it.
[[nodiscard]] std::vector<std::string> job_environment(const Job& job, const CpuAllotment& allotment);

}  // namespace mljobd::core
