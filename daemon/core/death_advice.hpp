// The sentences that go with a verdict: what happened, the figures, what to type next (ml-facts: which memory, the
// limit, the peak, the part in /dev/shm, the victim).
#pragma once

#include <string>

#include "core/death_cause.hpp"
#include "core/job.hpp"

namespace mljobd::core {

// Of a job that the memory killer ended; verdict.cause has `what` and the figures.
[[nodiscard]] std::string memory_advice(const Job& job, const Evidence& evidence, const Verdict& verdict);
// Of one that lost a process to it and ended in another way.
[[nodiscard]] std::string survived_kill_advice(const Job& job, const Verdict& verdict);
[[nodiscard]] std::string start_advice(const Job& job, const Evidence& evidence);
// Of one that had to give way to a more important one.
[[nodiscard]] std::string pressure_advice(const Job& job);
[[nodiscard]] std::string stop_advice(const Job& job, const Stopping& stopping, const Verdict& verdict);
// Of one that ended by itself, with an exit code or a signal.
[[nodiscard]] std::string exit_advice(const Job& job, const Evidence& evidence, const Verdict& verdict);
[[nodiscard]] std::string reboot_advice(const Job& job);
[[nodiscard]] std::string unknown_advice(const Job& job, const Evidence& evidence);

// Less than a hundredth of the /dev/shm that the job saw was free at its end.
[[nodiscard]] bool is_shm_full(const Evidence& evidence);

}  // namespace mljobd::core
