#pragma once

#include <span>

#include "client/script/slurm_options.hpp"

namespace mljobd::client {

[[nodiscard]] std::span<const SlurmOption> slurm_option_table();

}  // namespace mljobd::client
