#include "core/job.hpp"

#include <array>
#include <cstddef>

namespace mljobd::core {
namespace {

template <class Enum>
struct Word {
  Enum value;
  std::string_view word;
};

constexpr std::array kinds{
    Word{JobKind::batch, "batch"},
    Word{JobKind::foreground, "foreground"},
    Word{JobKind::adopted, "adopted"},
};
constexpr std::array oom_policies{
    Word{OomPolicy::kill, "kill"},
    Word{OomPolicy::keep_running, "continue"},
};
constexpr std::array open_modes{
    Word{OpenMode::append, "append"},
    Word{OpenMode::truncate, "truncate"},
};
constexpr std::array results{
    Word{JobResult::done, "done"},
    Word{JobResult::failed, "failed"},
    Word{JobResult::signalled, "signalled"},
    Word{JobResult::cancelled, "cancelled"},
    Word{JobResult::timeout, "timeout"},
    Word{JobResult::oom, "oom"},
    Word{JobResult::preempted, "preempted"},
    Word{JobResult::dependency, "dependency"},
    Word{JobResult::start_failed, "start-failed"},
    Word{JobResult::lost, "lost"},
};
constexpr std::array causes{
    Word{CauseKind::none, ""},
    Word{CauseKind::own_limit, "own-limit"},
    Word{CauseKind::class_limit, "class-limit"},
    Word{CauseKind::total_limit, "total-limit"},
    Word{CauseKind::host_oom, "host-oom"},
    Word{CauseKind::oomd, "oomd"},
    Word{CauseKind::pressure_policy, "pressure-policy"},
    Word{CauseKind::time_limit, "time-limit"},
    Word{CauseKind::user, "user"},
    Word{CauseKind::signal, "signal"},
    Word{CauseKind::exit, "exit"},
    Word{CauseKind::dependency, "dependency"},
    Word{CauseKind::shm_full, "shm-full"},
    Word{CauseKind::start, "start"},
    Word{CauseKind::reboot, "reboot"},
    Word{CauseKind::unknown, "unknown"},
};
constexpr std::array pending_reasons{
    Word{PendingReason::none, ""},
    Word{PendingReason::resources_memory, "Resources:memory"},
    Word{PendingReason::resources_cpus, "Resources:cpus"},
    Word{PendingReason::job_class, "Class"},
    Word{PendingReason::priority, "Priority"},
    Word{PendingReason::dependency, "Dependency"},
    Word{PendingReason::dependency_never_satisfied, "DependencyNeverSatisfied"},
    Word{PendingReason::array_limit, "ArrayLimit"},
    Word{PendingReason::begin_time, "BeginTime"},
    Word{PendingReason::held, "Held"},
    Word{PendingReason::draining, "Draining"},
    Word{PendingReason::pressure, "Pressure"},
};
constexpr std::array stop_reasons{
    Word{StopReason::user, "user"},         Word{StopReason::time_limit, "time-limit"},
    Word{StopReason::requeue, "requeue"},   Word{StopReason::main_process_exited, "main-process-exited"},
    Word{StopReason::pressure, "pressure"},
};
constexpr std::array warn_signal_targets{
    Word{WarnSignal::To::main_process, "main"},
    Word{WarnSignal::To::steps, "steps"},
};
// In the order of the alternatives of JobState.
constexpr std::array<std::string_view, std::variant_size_v<JobState>> states{
    "queued", "held", "starting", "running", "frozen", "parked", "stopping", "finished"};

template <class Enum, std::size_t count>
std::string_view word_of(const std::array<Word<Enum>, count>& words, Enum value) {
  for (const auto& entry : words) {
    if (entry.value == value) return entry.word;
  }
  return "";
}

template <class Enum, std::size_t count>
std::optional<Enum> value_of(const std::array<Word<Enum>, count>& words, std::string_view word) {
  for (const auto& entry : words) {
    if (entry.word == word) return entry.value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_word(JobKind kind) { return word_of(kinds, kind); }
std::string_view to_word(OomPolicy policy) { return word_of(oom_policies, policy); }
std::string_view to_word(OpenMode mode) { return word_of(open_modes, mode); }
std::string_view to_word(const JobState& state) { return states[state.index()]; }
std::string_view to_word(JobResult result) { return word_of(results, result); }
std::string_view to_word(CauseKind cause) { return word_of(causes, cause); }
std::string_view to_word(PendingReason reason) { return word_of(pending_reasons, reason); }
std::string_view to_word(StopReason reason) { return word_of(stop_reasons, reason); }

std::string_view to_word(WarnSignal::To to) { return word_of(warn_signal_targets, to); }

std::optional<JobKind> job_kind_from(std::string_view word) { return value_of(kinds, word); }
std::optional<OomPolicy> oom_policy_from(std::string_view word) { return value_of(oom_policies, word); }
std::optional<OpenMode> open_mode_from(std::string_view word) { return value_of(open_modes, word); }
std::optional<JobResult> job_result_from(std::string_view word) { return value_of(results, word); }
std::optional<CauseKind> cause_kind_from(std::string_view word) { return value_of(causes, word); }
std::optional<PendingReason> pending_reason_from(std::string_view word) { return value_of(pending_reasons, word); }
std::optional<StopReason> stop_reason_from(std::string_view word) { return value_of(stop_reasons, word); }

std::optional<WarnSignal::To> warn_signal_to_from(std::string_view word) { return value_of(warn_signal_targets, word); }

bool is_waiting(const JobState& state) {
  return std::holds_alternative<Queued>(state) || std::holds_alternative<Held>(state);
}

bool has_units(const JobState& state) {
  return std::holds_alternative<Starting>(state) || std::holds_alternative<Running>(state) ||
         std::holds_alternative<Frozen>(state) || std::holds_alternative<Parked>(state) ||
         std::holds_alternative<Stopping>(state);
}

bool is_finished(const JobState& state) { return std::holds_alternative<Finished>(state); }

std::string why_unparkable(const JobSpec& spec) { return spec.parkable ? "" : "was submitted with --no-park"; }

Bytes memory_claim(const Limits& limits) { return limits.memory.value_or(limits.memory_learned.value_or(0)); }

Bytes memory_ceiling(const Limits& limits) { return limits.memory_max.value_or(limits.memory.value_or(unlimited)); }

}  // namespace mljobd::core
