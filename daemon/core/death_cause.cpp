#include "core/death_cause.hpp"

#include <csignal>
#include <string_view>
#include <utility>

#include "core/death_advice.hpp"
#include "core/text.hpp"
#include "core/unit_names.hpp"

namespace mljobd::core {
namespace {

// systemd's own exit codes, for what fails between fork and exec.
constexpr std::int32_t first_systemd_code = 200;
constexpr std::int32_t last_systemd_code = 243;
constexpr std::size_t longest_command_name = 64;  // the kernel's has 16 bytes

bool exited(const Evidence& evidence) { return evidence.exit.kind == ProcessExit::Kind::exited; }
bool killed(const Evidence& evidence) { return evidence.exit.kind == ProcessExit::Kind::killed; }
bool exit_unknown(const Evidence& evidence) { return evidence.exit.kind == ProcessExit::Kind::unknown; }

Verdict verdict_of(JobResult result, CauseKind what, const Evidence& evidence) {
  Verdict verdict{.result = result, .cause = {.what = what}};
  if (exited(evidence)) verdict.exit_code = evidence.exit.status;
  if (killed(evidence)) verdict.exit_signal = static_cast<std::uint32_t>(evidence.exit.status);
  return verdict;
}

// The name without "/" in front and behind is one of the path's components.
bool has_component(std::string_view path, std::string_view name) {
  return ("/" + std::string(path) + "/").find("/" + std::string(name) + "/") != std::string::npos;
}

bool ends_with_component(std::string_view path, std::string_view name) {
  return ("/" + std::string(path)).ends_with("/" + std::string(name));
}

// Whose limit the kernel's record names. Below `systemd --user` more cgroups are in front, hence the components.
CauseKind limit_at(const Job& job, std::string_view cgroup) {
  if (has_component(cgroup, job_slice(job))) return CauseKind::own_limit;
  if (ends_with_component(cgroup, class_slice(job.spec.class_name))) return CauseKind::class_limit;
  if (ends_with_component(cgroup, root_slice)) return CauseKind::total_limit;
  return CauseKind::host_oom;  // the machine itself, or a group that it keeps everything of ours in
}

const OomKill* record_of(const Job& job, const Evidence& evidence) {
  const bool ours = evidence.oom_kill && has_component(evidence.oom_kill->victim_cgroup, job_slice(job));
  return ours ? &*evidence.oom_kill : nullptr;
}

bool kernel_killed(const Job& job, const Evidence& evidence) {
  return record_of(job, evidence) != nullptr || (evidence.slice_events && evidence.slice_events->oom_kill > 0);
}

// `oom` counts where the limit fired: the first of the job, its class and the whole that counted is the one.
CauseKind limit_by_counters(const Job& job, const Evidence& evidence) {
  const bool own = evidence.slice_events_local && evidence.slice_events_local->oom > 0;
  // Hierarchical: a limit below the job's slice, that of a container in it.
  const bool inner = evidence.slice_events && evidence.slice_events->oom > 0;
  if (own || inner) return CauseKind::own_limit;
  if (evidence.class_oom_now > job.attempt.class_oom_before) return CauseKind::class_limit;
  if (evidence.total_oom_now > job.attempt.total_oom_before) return CauseKind::total_limit;
  return evidence.killed_by_oomd ? CauseKind::oomd : CauseKind::host_oom;
}

// Why a process of the job was killed for memory; `none` if none was.
CauseKind memory_killer(const Job& job, const Evidence& evidence) {
  if (const auto* record = record_of(job, evidence)) return limit_at(job, record->limited_cgroup);
  if (kernel_killed(job, evidence)) return limit_by_counters(job, evidence);
  if (evidence.killed_by_oomd) return CauseKind::oomd;
  // PID 1 says so, and neither the slice's counters nor the journal say who: not a case for guessing.
  return evidence.unit_result == "oom-kill" ? CauseKind::unknown : CauseKind::none;
}

// Losing a process to the memory killer is not yet the job's end: it is where the main process was it, or failed
// afterwards.
bool ended_by_memory(const Evidence& evidence) {
  const bool whole_group = evidence.slice_events && evidence.slice_events->oom_group_kill > 0;
  const bool unit_killed = evidence.unit_result == "oom-kill";
  switch (evidence.exit.kind) {
    case ProcessExit::Kind::exited:
      return evidence.exit.status != 0;
    case ProcessExit::Kind::killed:
      return evidence.exit.status == SIGKILL || unit_killed;
    default:
      return unit_killed || whole_group || evidence.killed_by_oomd;
  }
}

std::optional<Bytes> finite(std::optional<Bytes> limit) { return limit == unlimited ? std::nullopt : limit; }

std::optional<Bytes> limit_of(CauseKind what, const Job& job, const Evidence& evidence) {
  switch (what) {
    case CauseKind::own_limit:
      return finite(evidence.effective_memory_max.value_or(memory_ceiling(job.spec.limits)));
    case CauseKind::class_limit:
      return finite(evidence.class_memory_max);
    case CauseKind::total_limit:
      return finite(evidence.total_memory_max);
    default:
      return std::nullopt;
  }
}

std::optional<Bytes> if_any(Bytes bytes) { return bytes == 0 ? std::nullopt : std::optional(bytes); }

void add_memory_evidence(Cause& cause, CauseKind killer, const Job& job, const Evidence& evidence) {
  cause.limit = limit_of(killer, job, evidence);
  cause.peak = if_any(evidence.usage.memory_peak);
  cause.shmem = if_any(evidence.usage.memory_shmem);
  if (killer == CauseKind::oomd) {
    cause.by = "systemd-oomd";
  } else if (killer != CauseKind::unknown) {
    cause.by = "kernel";
  }
  if (const auto* record = record_of(job, evidence)) {
    // A process may call itself what it likes.
    cause.victim = {record->victim.first, printable(record->victim.second, longest_command_name)};
  }
}

Verdict memory_verdict(CauseKind killer, const Job& job, const Evidence& evidence) {
  Verdict verdict = verdict_of(JobResult::oom, killer, evidence);
  add_memory_evidence(verdict.cause, killer, job, evidence);
  verdict.cause.advice = memory_advice(job, evidence, verdict);
  return verdict;
}

bool failed_to_start(const Evidence& evidence) {
  if (evidence.spawn_failure) return true;
  const bool systemd_code =
      exited(evidence) && evidence.exit.status >= first_systemd_code && evidence.exit.status <= last_systemd_code;
  // Type=exec reports a program that ran and failed at once as a failed start, too: only systemd's codes tell.
  if (evidence.start_job_failed) {
    return systemd_code || evidence.unit_result == "timeout" ||
           (exit_unknown(evidence) && evidence.unit_result != "oom-kill");
  }
  return exit_unknown(evidence) && evidence.unit_result == "resources";
}

std::string user_name(const Job& job, UserId user) {
  if (user == job.owner && !job.owner_name.empty()) return job.owner_name;
  return user == 0 ? "root" : "user " + std::to_string(user);
}

// The reason that the job is being stopped for, unless it is that its main process had ended.
const Stopping* own_stop(const Job& job, const Evidence& evidence) {
  const auto* const stopping = std::get_if<Stopping>(&job.state);
  if (stopping == nullptr || stopping->reason == StopReason::main_process_exited || evidence.exited_before_stop) {
    return nullptr;
  }
  return stopping;
}

Verdict pressure_verdict(const Job& job, const Evidence& evidence) {
  Verdict verdict = verdict_of(JobResult::preempted, CauseKind::pressure_policy, evidence);
  verdict.cause.by = "mljobd";
  verdict.cause.peak = if_any(evidence.usage.memory_peak);
  verdict.cause.shmem = if_any(evidence.usage.memory_shmem);
  verdict.cause.advice = pressure_advice(job);
  return verdict;
}

Verdict stop_verdict(const Job& job, const Stopping& stopping, const Evidence& evidence) {
  if (stopping.reason == StopReason::pressure) return pressure_verdict(job, evidence);
  const bool timeout = stopping.reason == StopReason::time_limit;
  Verdict verdict = verdict_of(timeout ? JobResult::timeout : JobResult::cancelled,
                               timeout ? CauseKind::time_limit : CauseKind::user, evidence);
  verdict.cause.by = stopping.reason == StopReason::user ? user_name(job, stopping.by) : "mljobd";
  verdict.cause.advice = stop_advice(job, stopping, verdict);
  return verdict;
}

Verdict start_verdict(const Job& job, const Evidence& evidence) {
  Verdict verdict = verdict_of(JobResult::start_failed, CauseKind::start, evidence);
  verdict.cause.advice = start_advice(job, evidence);
  return verdict;
}

Verdict exit_verdict(const Job& job, const Evidence& evidence) {
  if (exited(evidence)) {
    const bool well = evidence.exit.status == 0;
    Verdict verdict =
        verdict_of(well ? JobResult::done : JobResult::failed, well ? CauseKind::none : CauseKind::exit, evidence);
    verdict.cause.advice = exit_advice(job, evidence, verdict);
    return verdict;
  }
  if (killed(evidence)) {
    const bool shm = evidence.exit.status == SIGBUS && is_shm_full(evidence);
    Verdict verdict = verdict_of(JobResult::signalled, shm ? CauseKind::shm_full : CauseKind::signal, evidence);
    if (shm) verdict.cause.shmem = if_any(evidence.usage.memory_shmem);
    verdict.cause.advice = exit_advice(job, evidence, verdict);
    return verdict;
  }
  Verdict verdict = verdict_of(JobResult::lost, CauseKind::unknown, evidence);
  verdict.cause.advice = unknown_advice(job, evidence);
  return verdict;
}

// Not why the job ended, but what its owner ought to know about its results.
void mention_kill(Verdict& verdict, CauseKind killer, const Job& job, const Evidence& evidence) {
  add_memory_evidence(verdict.cause, killer, job, evidence);
  const std::string mention = survived_kill_advice(job, verdict);
  verdict.cause.advice = verdict.cause.advice.empty() ? mention : verdict.cause.advice + " " + mention;
}

}  // namespace

Verdict determine_cause(const Job& job, const Evidence& evidence) {
  // First, since what we did explains the signals, and even the OOM kill, that followed.
  if (const auto* stopping = own_stop(job, evidence)) return stop_verdict(job, *stopping, evidence);
  if (evidence.rebooted) {
    Verdict verdict = verdict_of(JobResult::lost, CauseKind::reboot, evidence);
    verdict.cause.advice = reboot_advice(job);
    return verdict;
  }
  if (failed_to_start(evidence)) return start_verdict(job, evidence);
  const CauseKind killer = memory_killer(job, evidence);
  if (killer != CauseKind::none && ended_by_memory(evidence)) return memory_verdict(killer, job, evidence);
  Verdict verdict = exit_verdict(job, evidence);
  if (killer != CauseKind::none) mention_kill(verdict, killer, job, evidence);
  return verdict;
}

}  // namespace mljobd::core
