#include "core/dependencies.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>

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

// Depth first along "runs after". What is on the path and met again closes a circle.
class CycleSearch {
 public:
  explicit CycleSearch(std::span<const NamedDependencies> jobs) : jobs_(jobs), visits_(jobs.size(), Visit::none) {
    index_.reserve(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) index_.try_emplace(jobs[i].name, i);
  }

  // The circle's members, each running after the next; empty when there is none.
  std::vector<std::size_t> run() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (visits_[i] == Visit::none) enter(i);
      while (!path_.empty()) {
        if (const auto closing = step()) return circle_from(*closing);
      }
    }
    return {};
  }

 private:
  enum class Visit { none, on_path, done };
  struct Step {
    std::size_t job = 0;
    std::size_t next_edge = 0;
  };

  void enter(std::size_t job) {
    visits_[job] = Visit::on_path;
    path_.push_back({.job = job});
  }

  // One edge further; the member of the path that it leads back to, if it does.
  std::optional<std::size_t> step() {
    Step& current = path_.back();
    const auto& after = jobs_[current.job].after;
    if (current.next_edge == after.size()) {
      visits_[current.job] = Visit::done;
      path_.pop_back();
      return std::nullopt;
    }
    const auto target = index_.find(after[current.next_edge++]);
    if (target == index_.end() || visits_[target->second] == Visit::done) return std::nullopt;
    if (visits_[target->second] == Visit::on_path) return target->second;
    enter(target->second);
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::size_t> circle_from(std::size_t job) const {
    const auto begin = std::find_if(path_.begin(), path_.end(), [job](const Step& step) { return step.job == job; });
    std::vector<std::size_t> circle;
    std::transform(begin, path_.end(), std::back_inserter(circle), [](const Step& step) { return step.job; });
    return circle;
  }

  std::span<const NamedDependencies> jobs_;
  std::vector<Visit> visits_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<Step> path_;
};

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

std::optional<std::string> find_cycle(std::span<const NamedDependencies> jobs) {
  auto circle = CycleSearch(jobs).run();
  if (circle.empty()) return std::nullopt;
  // Found against the direction of running; begun with the member that was written first.
  std::reverse(circle.begin(), circle.end());
  std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
  constexpr std::size_t named_members = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(circle.size(), named_members); ++i) {
    text += jobs[circle[i]].name;
    text += " -> ";
  }
  if (circle.size() > named_members) text += "(" + std::to_string(circle.size() - named_members) + " more) -> ";
  text += jobs[circle.front()].name;
  return text;
}

}  // namespace mljobd::core
