#include "evidence.hpp"

#include <csignal>

#include <sys/wait.h>

#include "kernel/machine.hpp"
#include "systemd/journal.hpp"
#include "systemd/unit_properties.hpp"

namespace mljobd {
namespace {

core::ProcessExit exit_of(const systemd::UnitStatus& status) {
  using Kind = core::ProcessExit::Kind;
  switch (status.main_code) {
    case CLD_EXITED:
      return {.kind = Kind::exited, .status = status.main_status};
    case CLD_KILLED:
    case CLD_DUMPED:
      return {.kind = Kind::killed, .status = status.main_status};
    default:
      return {};
  }
}

// PID 1 takes the time when it reaps the process, so that one that ended within a moment of the stop may still count as
// ended by it, but never the other way round.
bool exited_before_stop(const core::Job& job, const systemd::UnitStatus& status) {
  const auto* const stopping = std::get_if<core::Stopping>(&job.state);
  const auto exited = systemd::moment(status.main_exited);
  return stopping != nullptr && exited && *exited < stopping->since;
}

std::optional<kernel::Cgroup> open_cgroup(const CgroupPaths& paths, const std::string& path) {
  auto cgroup = kernel::Cgroup::open(paths.root, path);
  if (!cgroup) return std::nullopt;
  return std::move(*cgroup);
}

void read_limits_above(core::Evidence& evidence, const CgroupPaths& paths) {
  if (const auto cgroup = open_cgroup(paths, paths.class_slice)) {
    if (const auto events = cgroup->memory_events_local()) evidence.class_oom_now = events->oom;
    evidence.class_memory_max = cgroup->memory_max();
  }
  if (const auto cgroup = open_cgroup(paths, paths.total_slice)) {
    if (const auto events = cgroup->memory_events_local()) evidence.total_oom_now = events->oom;
    evidence.total_memory_max = cgroup->memory_max();
  }
}

void read_slice(core::Evidence& evidence, const core::Job& job, const kernel::Cgroup* slice) {
  evidence.usage = job.attempt.usage;
  if (slice == nullptr) return;
  if (const auto usage = slice->usage()) evidence.usage = *usage;
  evidence.slice_events = slice->memory_events();
  evidence.slice_events_local = slice->memory_events_local();
  evidence.effective_memory_max = slice->memory_max();
}

// The journal is asked only when something else says that there must be a record: it costs a search.
bool read_oom_record(core::Evidence& evidence, const core::Job& job, const CgroupPaths& paths) {
  const bool process_killed = evidence.slice_events && evidence.slice_events->oom_kill > 0;
  if (!process_killed) return false;
  const auto since = job.attempt.started.value_or(job.submitted);
  evidence.oom_kill = systemd::find_oom_kill("/" + paths.job_slice, since);
  return !evidence.oom_kill;
}

bool read_start_failure(core::Evidence& evidence, const core::Job& job, const EndedUnit& ended) {
  // 200 to 243 are systemd's own codes for what failed between fork and exec; a program may use them as well, and
  // then PID 1 has no record of a failed start.
  constexpr std::int32_t first_own_code = 200;
  constexpr std::int32_t last_own_code = 243;
  const bool suspicious = evidence.exit.kind == core::ProcessExit::Kind::exited &&
                          evidence.exit.status >= first_own_code && evidence.exit.status <= last_own_code;
  if (!suspicious) return false;
  evidence.spawn_failure = systemd::find_spawn_failure(ended.status.unit, ended.status.invocation_id, job.owner);
  if (evidence.spawn_failure) return false;
  // A program that ends in its first millisecond may count as a failed start. What fails before it is written down by
  // the process itself, and so before its end is: with the one there and not the other, the program ran.
  if (systemd::find_exit(ended.status.unit, ended.status.invocation_id)) {
    evidence.start_job_failed = false;
    return false;
  }
  // To PID 1 a launcher that could not open the job's files is a program that ran: only its own record tells.
  return ended.start_failed || systemd::goes_through_launcher(job.spec);
}

void read_oomd_record(core::Evidence& evidence, const core::Job& job, const EndedUnit& ended) {
  const bool killed = evidence.exit.kind == core::ProcessExit::Kind::killed && evidence.exit.status == SIGKILL;
  const bool explained = evidence.slice_events && evidence.slice_events->oom_kill > 0;
  if (!killed || explained || std::holds_alternative<core::Stopping>(job.state)) return;
  evidence.killed_by_oomd = systemd::killed_by_oomd(ended.status.unit, ended.status.invocation_id,
                                                    job.attempt.started.value_or(job.submitted));
}

}  // namespace

EvidenceCollector::Collected EvidenceCollector::collect(const core::Job& job, const EndedUnit& ended,
                                                        const CgroupPaths& paths) const {
  Collected collected;
  core::Evidence& evidence = collected.evidence;
  evidence.unit_known = !ended.status.unit.empty();
  evidence.unit_result = ended.status.result;
  evidence.exit = ended.exit_reported.value_or(exit_of(ended.status));
  evidence.start_job_failed = ended.start_failed;
  evidence.exited_before_stop = exited_before_stop(job, ended.status);
  read_slice(evidence, job, ended.slice);
  read_limits_above(evidence, paths);
  if (!job.spec.limits.private_shm) {
    if (const auto shm = kernel::shm_space()) evidence.shm_free_and_total = std::pair(shm->free, shm->total);
  }
  const bool oom_missing = read_oom_record(evidence, job, paths);
  const bool start_missing = read_start_failure(evidence, job, ended);
  read_oomd_record(evidence, job, ended);
  collected.record_missing = oom_missing || start_missing;
  return collected;
}

core::Verdict start_refused(const core::Job& job, const core::Error& error) {
  core::Verdict verdict;
  verdict.result = core::JobResult::start_failed;
  verdict.cause.what = core::CauseKind::start;
  verdict.cause.by = error.code == core::ErrorCode::service_manager ? "systemd" : "mljobd";
  verdict.cause.advice = "Job " + std::to_string(job.id) + " could not be started: " + error.message + ".";
  return verdict;
}

}  // namespace mljobd
