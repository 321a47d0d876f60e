// Limits read back from the cgroup of a job, against what was asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/cpu_topology.hpp"
#include "core/job.hpp"
#include "core/settings.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

// Of the job's slice. An empty optional: the controller or the file is not there, so nothing enforces it.
struct EffectiveLimits {
  std::optional<Bytes> memory_max{};
  std::optional<Bytes> memory_high{};
  std::optional<Bytes> memory_low{};  // not for a job to ask for: the most important one has it
  std::optional<Bytes> swap_max{};
  std::optional<std::uint64_t> tasks_max{};
  std::optional<std::uint64_t> cpu_weight{};
  std::optional<std::uint64_t> io_weight{};
  std::optional<std::uint32_t> cpu_quota_percent{};  // `unlimited_quota` where none is set
  std::optional<std::string> cpu_list{};             // cpuset.cpus.effective

  bool operator==(const EffectiveLimits&) const = default;
};

// cpu.max says "max": the controller is there and no quota is set.
inline constexpr std::uint32_t unlimited_quota = std::numeric_limits<std::uint32_t>::max();

// The keys of the contract's Effective property.
[[nodiscard]] ValueMap effective_view(const EffectiveLimits& effective);

// One sentence per difference. Memory that was rounded to pages is none. job_class may be null: its weight is then
// not checked.
// `cpus`: what the job is meant to be kept on now, which is its cpu_list less what others have reserved, or its own
// cores; empty: no restriction.
[[nodiscard]] std::vector<std::string> limit_warnings(const JobSpec& spec, const JobClass* job_class,
                                                      const CpuList& cpus, const EffectiveLimits& effective);

}  // namespace mljobd::core
