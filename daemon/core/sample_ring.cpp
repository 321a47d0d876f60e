#include "core/sample_ring.hpp"

#include <algorithm>
#include <cstddef>

#include "core/whole_microseconds.hpp"

namespace mljobd::core {
namespace {

// Of more there is none to be had: at one in ten seconds the last of these reaches further back than mankind.
constexpr std::uint32_t most_stretches = 40;

// As few stretches as cover all there is: a short past is kept whole.
std::uint32_t count_of_stretches(SampleNumber newest) {
  std::uint32_t count = 1;
  while (count < most_stretches && maximum_samples / count * ((SampleNumber{1} << count) - 1) <= newest) ++count;
  return count;
}

template <class Number>
void add_column(SampleColumns& columns, const char* name, std::span<const JobSample> samples, Number number) {
  auto& column = columns[name];
  column.reserve(samples.size());
  for (const auto& sample : samples) column.push_back(number(sample));
}

void add_stalls(SampleColumns& columns, const char* some, const char* full, std::span<const JobSample> samples,
                std::optional<StallTotals> JobSample::* stalls) {
  const bool told = std::any_of(samples.begin(), samples.end(),
                                [&](const JobSample& sample) { return (sample.*stalls).has_value(); });
  if (!told) return;
  const auto totals = [stalls](const JobSample& sample) { return (sample.*stalls).value_or(StallTotals{}); };
  add_column(columns, some, samples, [&](const JobSample& sample) { return whole_microseconds(totals(sample).some); });
  add_column(columns, full, samples, [&](const JobSample& sample) { return whole_microseconds(totals(sample).full); });
}

}  // namespace

JobSample sample_of(RealTime time, std::uint32_t attempt, const CgroupMemory& memory) {
  return {.time = time,
          .attempt = attempt,
          .memory_current = memory.current,
          .memory_anon_shmem = memory.anon + memory.shmem,
          .swap_current = memory.swap,
          .cpu_time = memory.cpu_time,
          .memory_stalls = memory.memory_stalls,
          .io_stalls = memory.io_stalls};
}

std::vector<Stretch> stretches(SampleNumber newest) {
  const auto count = count_of_stretches(newest);
  const SampleNumber rows = maximum_samples / count;
  std::vector<Stretch> past;
  past.reserve(count);
  SampleNumber end = newest + 1;
  for (SampleNumber step = 1; end > 0 && past.size() < count; step *= 2) {
    const SampleNumber first = end > rows * step ? end - rows * step : 0;
    past.push_back({.first = first, .last = end - 1, .step = step});
    end = first;
  }
  return past;
}

bool is_kept(SampleNumber number, std::span<const Stretch> past) {
  return std::any_of(past.begin(), past.end(), [number](const Stretch& stretch) {
    return number >= stretch.first && number <= stretch.last && number % stretch.step == 0;
  });
}

SampleColumns to_columns(std::span<const JobSample> samples) {
  SampleColumns columns;
  add_column(columns, "time", samples,
             [](const JobSample& sample) { return whole_microseconds(sample.time.time_since_epoch()); });
  add_column(columns, "attempt", samples, [](const JobSample& sample) { return std::uint64_t{sample.attempt}; });
  add_column(columns, "memory_current", samples, [](const JobSample& sample) { return sample.memory_current; });
  add_column(columns, "memory_anon_shmem", samples, [](const JobSample& sample) { return sample.memory_anon_shmem; });
  add_column(columns, "swap_current", samples, [](const JobSample& sample) { return sample.swap_current; });
  add_column(columns, "cpu_time", samples, [](const JobSample& sample) { return whole_microseconds(sample.cpu_time); });
  add_stalls(columns, "memory_waiting", "memory_stalled", samples, &JobSample::memory_stalls);
  add_stalls(columns, "io_waiting", "io_stalled", samples, &JobSample::io_stalls);
  return columns;
}

}  // namespace mljobd::core
