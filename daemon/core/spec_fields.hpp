// The keys of a job's specification, each by itself: its type, its range, where it may be given. What keys have to do
// with each other, with the class and with the machine is in spec_validation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/job.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

inline constexpr Bytes minimum_memory = Bytes{1} << 20;  // less than that and not even a shell starts

// Of one job, those on the jobs of an array counted each.
inline constexpr std::size_t maximum_dependencies = 1000;

struct SpecDraft {
  JobSpec spec{};
  StringPairs after{};                     // kinds, and ids or names of jobs
  std::optional<std::int32_t> priority{};  // told from 0, which a change of limits has to
};

enum class SpecUse { submission, limit_change };

// Errors: invalid_spec, for an unknown key (with the one that was probably meant), one that may not be given here, a
// wrong type, a value out of range.
[[nodiscard]] Expected<SpecDraft> read_spec_fields(const ValueMap& values, SpecUse use, JobKind kind);

}  // namespace mljobd::core
