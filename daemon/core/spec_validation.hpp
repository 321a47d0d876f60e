// From the dictionary that a caller sent to a specification that the daemon can act on without looking again.
// What a key may hold is documented in dbus/org.mljobd1.Manager.xml.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/cpu_topology.hpp"
#include "core/job.hpp"
#include "core/settings.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

struct ValidationContext {
  const Settings& settings;
  JobKind kind = JobKind::batch;
  bool privileged = false;           // the caller is root
  Bytes total_memory = 0;            // of the machine
  Bytes jobs_memory_max = 0;         // what all jobs together may use
  CpuList cpus{};                    // that jobs can be given
  std::uint32_t cores_for_jobs = 0;  // physical ones that may be reserved, all jobs together
  // The jobs that "42", a name or an array's id stands for, for the one who submits; never empty. Errors: any.
  std::function<Expected<std::vector<JobId>>(const std::string& reference)> find_jobs{};
};

// Defaults are filled in (name, class, the class's memory); exported bash functions are left out of the environment.
// For an adopted process the caller supplies the command. Errors: invalid_spec, and no_capacity for a claim that can
// never fit this machine.
[[nodiscard]] Expected<JobSpec> validate_spec(const ValueMap& spec, const ValidationContext& context);

struct LimitChange {
  Limits limits{};  // only the ones to change are set; oom_policy, oom_score_adjust and private_shm never
  std::optional<Microseconds> time_limit{};
  std::optional<std::int32_t> priority{};

  bool operator==(const LimitChange&) const = default;
};

// Each value on its own; whether it goes together with what the job has, apply_limit_change says. Errors: as above.
[[nodiscard]] Expected<LimitChange> validate_limit_change(const ValueMap& changes, const ValidationContext& context);

// The specification with the change in it, if the whole still satisfies what validate_spec asks of limits.
// Errors: as above.
[[nodiscard]] Expected<JobSpec> apply_limit_change(const JobSpec& spec, const LimitChange& change,
                                                   const ValidationContext& context);

}  // namespace mljobd::core
