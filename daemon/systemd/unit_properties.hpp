// What a job's specification means in the properties of systemd units. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cpu_topology.hpp"
#include "core/job.hpp"
#include "core/settings.hpp"
#include "core/types.hpp"
#include "systemd/unit_request.hpp"

namespace mljobd::systemd {

struct JobFiles {
  std::string log_path{};
  std::string environment_file{};
  std::string launcher{};  // of mljob-launch, which opens --output and --error with the owner's rights
  std::string output{};    // the job's own, their patterns filled in; empty: none
  std::string error{};
};

// Whether PID 1 starts mljob-launch, which becomes the job's program. To PID 1 such a job ran even when its program was
// never found.
[[nodiscard]] bool goes_through_launcher(const core::JobSpec& spec);

// Batch: a service, and the job's slice as auxiliary unit.
// `cpus`: what its slice is kept on; empty: no restriction.
[[nodiscard]] UnitRequest job_request(const core::Job& job, const core::Settings& settings, const core::CpuList& cpus,
                                      const JobFiles& files, ManagerScope manager);
// Foreground and adopted: a scope around running processes, and the job's slice.
[[nodiscard]] UnitRequest scope_request(const core::Job& job, const core::Settings& settings, const core::CpuList& cpus,
                                        const std::vector<std::uint32_t>& pids, ManagerScope manager);

// The limits of the job are those of its slice. A null class leaves systemd's defaults where the job asked for nothing.
[[nodiscard]] std::vector<UnitProperty> slice_properties(const core::Job& job, const core::JobClass* job_class,
                                                         const core::CpuList& cpus);
// Empty lifts a restriction that is in force.
[[nodiscard]] UnitProperty allowed_cpus(const core::CpuList& cpus);
// For SetUnitProperties on the job's slice: only what `changes` names.
[[nodiscard]] std::vector<UnitProperty> changed_slice_properties(const core::Limits& changes);

// What reclaim is to leave alone of a slice; 0: nothing.
[[nodiscard]] UnitProperty memory_low(core::Bytes amount);

inline constexpr std::uint64_t default_weight = 100;  // CPUWeight and IOWeight of a job that asks for none

[[nodiscard]] UnitRequest class_slice_request(const core::JobClass& job_class);
[[nodiscard]] std::vector<UnitProperty> class_slice_properties(const core::JobClass& job_class);
[[nodiscard]] std::vector<UnitProperty> root_slice_properties(core::Bytes memory_max);

}  // namespace mljobd::systemd
