// How sizes, durations and CPU lists are written and read, wherever a person types or reads one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace mljobd::core {

inline constexpr std::uint32_t maximum_cpu = 8191;  // CONFIG_NR_CPUS of the largest x86 kernels is 8192

// Powers of 1024, rounded to a tenth: "512B", "512M", "1.5M", "12.0G"; `unlimited` is "unlimited".
[[nodiscard]] std::string format_bytes(Bytes bytes);

// The two largest units, the rest cut off: "500ms", "45s", "3m20s", "2h05m", "1d03h". Negative ones count as 0.
[[nodiscard]] std::string format_duration(Microseconds duration);

// A moment of the wall clock, the same for every reader: "2026-07-12 03:05:00 UTC". Fractions are cut off; what lies
// outside the years 1970 to 9999 is shown as their edge.
[[nodiscard]] std::string format_time(RealTime time);

// "12G", "1.5G", "512B" (powers of 1024; either case), "50%" of total_memory where that is given, "unlimited" or
// "infinity". A bare number is refused, because Slurm reads it as megabytes and systemd as bytes.
// Errors: invalid_spec.
[[nodiscard]] Expected<Bytes> parse_bytes(std::string_view text, std::optional<Bytes> total_memory);

// "90s", "1h30m", "1.5h", "500ms", "h:m:s", "d-h", "d-h:m", "d-h:m:s". A bare number is refused, because Slurm reads it
// as minutes and systemd as seconds; so is "1:30", which is minutes in Slurm and hours on a clock.
// Errors: invalid_spec. The result is never negative.
[[nodiscard]] Expected<Microseconds> parse_duration(std::string_view text);

// "0-3,8", as the kernel writes it: sorted and unique, CPUs 0..maximum_cpu, never empty. Errors: invalid_spec.
[[nodiscard]] Expected<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);
// The inverse; the CPUs are sorted and unique.
[[nodiscard]] std::string format_cpu_list(const std::vector<std::uint32_t>& cpus);

}  // namespace mljobd::core
