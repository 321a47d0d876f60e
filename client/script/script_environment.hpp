// What a script finds in its environment besides what goes along: the variables of Slurm that are known when it is
// submitted, and the stand-ins for Slurm's commands. What is known only when it starts, the daemon adds. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::client {

struct ScriptSurroundings {
  std::string submit_directory{};
  std::string host{};
  std::string stand_ins{};  // the folder of srun, scontrol and the rest
  bool user_daemon = false;
};

// SLURM_JOB_NAME, SLURM_SUBMIT_DIR, SLURM_SUBMIT_HOST, SLURM_JOB_NODELIST, SLURM_NODELIST, SLURMD_NODENAME,
// SLURM_JOB_NUM_NODES, SLURM_NNODES, SLURM_NTASKS, SLURM_NPROCS, SLURM_TASKS_PER_NODE, SLURM_PROCID, SLURM_LOCALID and
// SLURM_NODEID; with cores reserved SLURM_CPUS_PER_TASK, SLURM_CPUS_ON_NODE and SLURM_JOB_CPUS_PER_NODE; with memory
// SLURM_MEM_PER_NODE (megabytes). PATH has the stand-ins first, MLJOBD_USER is set for them if the daemon is the
// user's. The rest of `environment` ("KEY=value") stays as it is.
[[nodiscard]] std::vector<std::string> script_environment(std::vector<std::string> environment,
                                                          const core::ValueMap& spec, std::uint32_t tasks,
                                                          const ScriptSurroundings& around);

}  // namespace mljobd::client
