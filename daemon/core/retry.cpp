#include "core/retry.hpp"

#include <algorithm>

namespace mljobd::core {
namespace {

constexpr Microseconds first_pause = std::chrono::seconds(10);
constexpr Microseconds longest_pause = std::chrono::minutes(10);

Microseconds pause_before(std::uint32_t retries_made) {
  Microseconds pause = first_pause;
  for (std::uint32_t made = 0; made < retries_made && pause < longest_pause; ++made) pause *= 2;
  return std::min(pause, longest_pause);
}

bool may_end_better(JobResult result) {
  switch (result) {
    case JobResult::failed:
    case JobResult::signalled:
    case JobResult::oom:
    case JobResult::lost:
      return true;
    case JobResult::done:
    case JobResult::cancelled:
    case JobResult::timeout:
    case JobResult::dependency:
    case JobResult::start_failed:
    case JobResult::preempted:  // `requeue` says whether it starts again, and that is no retry
      return false;
  }
  return false;
}

// Empty when the ceiling is as high as it may be.
std::optional<Bytes> raised_memory(const JobSpec& spec, Bytes bound) {
  const Bytes ceiling = memory_ceiling(spec.limits);
  if (ceiling >= bound) return std::nullopt;
  // The percentage is at most 1000: dividing first keeps the product in range, and loses less than a page.
  const Bytes raised = ceiling / 100 * spec.retry_memory_percent;
  return std::clamp(raised, ceiling, bound);
}

}  // namespace

std::optional<Retry> retry_after(const Job& job, const Verdict& verdict, Bytes memory_bound, RealTime now) {
  if (job.retries >= job.spec.max_retries || !may_end_better(verdict.result)) return std::nullopt;
  const auto* const stopping = std::get_if<Stopping>(&job.state);
  if (stopping != nullptr && stopping->reason != StopReason::main_process_exited) return std::nullopt;
  Retry retry{.not_before = now + pause_before(job.retries)};
  if (verdict.cause.what != CauseKind::own_limit) return retry;
  if (job.spec.retry_memory_percent == 0) return std::nullopt;
  retry.memory = raised_memory(job.spec, memory_bound);
  return retry.memory ? std::optional(retry) : std::nullopt;
}

}  // namespace mljobd::core
