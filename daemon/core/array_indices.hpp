// Which elements a job array has: "0-15%4", "1,3,5-9:2".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace mljobd::core {

inline constexpr std::uint32_t maximum_array_index = 4'000'000;  // the most that Slurm's MaxArraySize allows
inline constexpr std::size_t maximum_array_size = 10'000;

struct ArrayIndices {
  std::vector<std::uint32_t> indices{};  // sorted, unique, never empty
  std::uint32_t max_running = 0;         // at the same time; 0 = no bound

  bool operator==(const ArrayIndices&) const = default;
};

// Numbers and ranges with commas between; "A-B:S" takes every S-th, "%N" at the end lets N run at once.
// Errors: invalid_spec.
[[nodiscard]] Expected<ArrayIndices> parse_array_indices(std::string_view text);

}  // namespace mljobd::core
