// Values of sbatch's options in Slurm's units, which are not those of jobctl. Pure.
// Errors: invalid_spec, saying how the value is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/types.hpp"

namespace mljobd::client {

// "4000" (megabytes of 1024 KiB), "4000M", "16G", "512K", "1T", each with a "B" behind it or not. 0 stands for all the
// memory there is.
[[nodiscard]] core::Expected<core::Bytes> parse_slurm_memory(std::string_view text);

// "90" (minutes), "m:s", "h:m:s", "d-h", "d-h:m", "d-h:m:s"; seconds are rounded up to the next minute, as in Slurm.
// Empty: no limit ("0", "UNLIMITED", "INFINITE").
[[nodiscard]] core::Expected<std::optional<core::Microseconds>> parse_slurm_time(std::string_view text);

// "1", "1-4": how many machines, of which the smaller number is what the job cannot do without.
[[nodiscard]] core::Expected<std::uint32_t> parse_slurm_nodes(std::string_view text);

// From 1 to 8192.
[[nodiscard]] core::Expected<std::uint32_t> parse_slurm_count(std::string_view text);

// --nice as jobctl's priority, -1000..1000, what lies beyond cut off; an empty text is Slurm's 100.
[[nodiscard]] core::Expected<std::int32_t> parse_slurm_nice(std::string_view text);

// A name that a job may have: Slurm allows more.
[[nodiscard]] std::string usable_job_name(std::string_view name);

}  // namespace mljobd::client
