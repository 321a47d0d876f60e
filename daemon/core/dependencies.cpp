#include "core/dependencies.hpp"

#include <algorithm>
#include <cstddef>

namespace mljobd::core {
namespace {

bool ended_well(const KnownJob& job) { return job.result == JobResult::done; }

DependencyStatus status_of(DependencyKind kind, const KnownJob& job) {
  if (job.phase == KnownJob::Phase::unknown) return DependencyStatus::never;
  if (kind == DependencyKind::start) {
    if (job.has_started) return DependencyStatus::satisfied;
    return job.phase == KnownJob::Phase::finished ? DependencyStatus::never : DependencyStatus::pending;
  }
  if (job.phase != KnownJob::Phase::finished) return DependencyStatus::pending;
  if (kind == DependencyKind::any) return DependencyStatus::satisfied;
  const bool wanted = (kind == DependencyKind::ok) == ended_well(job);
  return wanted ? DependencyStatus::satisfied : DependencyStatus::never;
}

std::string_view awaited(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::ok:
      return " to end well";
    case DependencyKind::any:
      return " to end";
    case DependencyKind::notok:
      return " to end in failure";
    case DependencyKind::start:
      return " to start";
  }
  return "";
}

std::string pending_detail(const Dependency& first, std::size_t count) {
  std::string text = "waits for " + std::to_string(first.job);
  text += awaited(first.kind);
  if (count > 1) text += ", and " + std::to_string(count - 1) + " more";
  return text;
}

std::string never_detail(const Dependency& dependency, const KnownJob& job) {
  std::string text = "job " + std::to_string(dependency.job);
  if (job.phase == KnownJob::Phase::unknown) return text + " is not known";
  text += " ended as ";
  text += to_word(job.result);
  if (dependency.kind == DependencyKind::ok) return text + ", not well";
  if (dependency.kind == DependencyKind::notok) return text + ", not in failure";
  return text + " without having started";
}

}  // namespace

KnownJob known_job(const Job& job) {
  KnownJob known;
  known.phase = is_waiting(job.state)    ? KnownJob::Phase::waiting
                : is_finished(job.state) ? KnownJob::Phase::finished
                                         : KnownJob::Phase::active;
  // An earlier attempt leaves nothing but its number behind.
  const std::uint32_t earlier = job.attempt.number - std::min<std::uint32_t>(job.attempt.number, 1);
  known.has_started = job.attempt.started || earlier > 0 || (is_waiting(job.state) && job.attempt.number > 0);
  if (const auto* finished = std::get_if<Finished>(&job.state)) known.result = finished->result;
  return known;
}

DependencyCheck check_dependencies(std::span<const Dependency> dependencies, const JobLookup& lookup) {
  const Dependency* first_pending = nullptr;
  std::size_t pending = 0;
  for (const auto& dependency : dependencies) {
    const auto job = lookup(dependency.job);
    const auto status = status_of(dependency.kind, job);
    if (status == DependencyStatus::never) return {status, never_detail(dependency, job)};
    if (status != DependencyStatus::pending) continue;
    if (first_pending == nullptr) first_pending = &dependency;
    ++pending;
  }
  if (first_pending == nullptr) return {};
  return {DependencyStatus::pending, pending_detail(*first_pending, pending)};
}

}  // namespace mljobd::core
