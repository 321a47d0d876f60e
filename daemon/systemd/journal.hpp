// What the kernel and PID 1 wrote in the journal about the end of a job. Every look-up seeks close to its record and
// gives up after a bounded number of entries and about 250 ms; not found and journal unreadable are the same answer.
// Anybody can write anything into the journal: only what the kernel, root or the daemon's own user wrote counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/death_cause.hpp"
#include "core/types.hpp"

namespace mljobd::systemd {

// Why a unit's program could not be executed, without the name of the unit in front:
// "Failed at step EXEC spawning /x: No such file or directory". PID 1's child writes it, for the last steps as the user
// that the job runs as: `owner` is believed as well.
[[nodiscard]] std::optional<std::string> find_spawn_failure(const std::string& unit, const std::string& invocation_id,
                                                            core::UserId owner = 0);

// The kernel's latest memory-cgroup or machine-wide kill since then whose victim was in the cgroup, or below it.
[[nodiscard]] std::optional<core::OomKill> find_oom_kill(const std::string& cgroup_prefix, core::RealTime since);
// One line of the kernel's, "oom-kill:constraint=…"; empty when it is another one.
[[nodiscard]] std::optional<core::OomKill> parse_oom_kill(std::string_view line);

[[nodiscard]] bool killed_by_oomd(const std::string& unit, const std::string& invocation_id, core::RealTime since);

struct ExitRecord {
  std::int32_t code = 0;    // CLD_EXITED, CLD_KILLED, CLD_DUMPED
  std::int32_t status = 0;  // the exit code or the signal

  bool operator==(const ExitRecord&) const = default;
};
// How the main process ended, for a unit that PID 1 has forgotten. It records failures only.
[[nodiscard]] std::optional<ExitRecord> find_exit(const std::string& unit, const std::string& invocation_id);

}  // namespace mljobd::systemd
