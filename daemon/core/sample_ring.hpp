// The past of a job in few rows, for a picture of it later: what a sample is, and which of them are kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/memory_sample.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// Of the job's slice. Times and stalls are totals of the attempt: a rate is the difference of two samples of it.
struct JobSample {
  RealTime time{};
  std::uint32_t attempt = 0;
  Bytes memory_current = 0;
  Bytes memory_anon_shmem = 0;
  Bytes swap_current = 0;
  Microseconds cpu_time{0};
  std::optional<StallTotals> memory_stalls{};
  std::optional<StallTotals> io_stalls{};

  bool operator==(const JobSample&) const = default;
};

[[nodiscard]] JobSample sample_of(RealTime time, std::uint32_t attempt, const CgroupMemory& memory);

inline constexpr Microseconds sample_spacing = std::chrono::seconds(10);
// Two hours with all of them; ten with the last 24 minutes in full and the first four hours at one in 160 s; and the
// first sample of all, however long it lasts.
inline constexpr std::uint32_t maximum_samples = 720;

// Of a job they count from 0; what was thinned out leaves a gap.
using SampleNumber = std::uint64_t;
struct NumberedSample {
  SampleNumber number = 0;
  JobSample sample{};

  bool operator==(const NumberedSample&) const = default;
};

// A part of the past in which only multiples of the step are kept, a power of two.
struct Stretch {
  SampleNumber first = 0;
  SampleNumber last = 0;  // included
  SampleNumber step = 1;

  bool operator==(const Stretch&) const = default;
};

// From the newest sample back to number 0: each stretch is twice as long as the one after it and has twice the step,
// hence as many rows, at most maximum_samples of them all. What one answer leaves out no later one has: rows that are
// removed are never missed.
[[nodiscard]] std::vector<Stretch> stretches(SampleNumber newest);
[[nodiscard]] bool is_kept(SampleNumber number, std::span<const Stretch> past);

// The columns of the contract's GetSamples, all of one length; stalls are left out where the kernel told none.
using SampleColumns = std::map<std::string, std::vector<std::uint64_t>>;
[[nodiscard]] SampleColumns to_columns(std::span<const JobSample> samples);

}  // namespace mljobd::core
