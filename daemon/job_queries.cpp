// What the manager knows, for those who ask; nothing here changes a job.
#include <utility>

#include "core/format.hpp"
#include "core/job_view.hpp"
#include "core/measured_advice.hpp"
#include "job_manager.hpp"
#include "kernel/storage_type.hpp"
#include "log.hpp"

namespace mljobd {
namespace {

// Empty for a job that shares.
core::CpuList own_cpus(const core::Job& job) {
  if (job.attempt.reserved_cpus.empty()) return {};
  return core::parse_cpu_list(job.attempt.reserved_cpus).value_or(core::CpuList{});
}

}  // namespace

const core::Job* JobManager::find(core::JobId id) const { return jobs_.find(id); }

core::Expected<const core::Job*> JobManager::recall(core::JobId id) {
  if (const auto* job = find(id)) return job;
  const auto unknown = [&] {
    return core::failure(core::ErrorCode::no_such_job, "there is no job " + std::to_string(id) +
                                                           "; `jobctl list --all` shows the ones that are known");
  };
  // Of those that were never given out a caller may name thousands, and each look into the store takes its time.
  if (id > last_id_) return unknown();
  auto loaded = store_.load(id);
  if (!loaded) return tl::unexpected(loaded.error());
  if (!*loaded) return unknown();
  const core::Job& added = jobs_.add(std::move(**loaded));
  finished_.push_back(id);
  observer_->job_recalled(added);
  // A call may name all of a long history, and every job in it may have a large environment.
  forget_unused();
  return &added;
}

core::Expected<JobManager::Listed> JobManager::list(const store::JobFilter& filter) const {
  const auto ids = store_.list_ids(filter);
  if (!ids) return tl::unexpected(ids.error());
  Listed listed;
  store::JobFilter history{.limit = filter.limit};
  for (const auto id : *ids) {
    if (find(id) == nullptr) history.ids.push_back(id);
  }
  if (!history.ids.empty()) {
    auto jobs = store_.list(history);
    if (!jobs) return tl::unexpected(jobs.error());
    listed.history = std::move(*jobs);
  }
  // Both are newest first. Pending reasons and what could not be written yet are only in memory.
  auto next = listed.history.begin();
  for (const auto id : *ids) {
    if (const auto* present = find(id)) {
      listed.jobs.push_back(present);
    } else if (next != listed.history.end() && next->id == id) {
      listed.jobs.push_back(&*next++);
    }
  }
  return listed;
}

core::Expected<std::vector<core::JobSample>> JobManager::samples(const Caller& caller, core::JobId id) {
  const auto job = owned(caller, id);
  if (!job) return tl::unexpected(job.error());
  return samples_.samples(id);
}

Counts JobManager::counts() const {
  return {.queued = static_cast<std::uint32_t>(jobs_.waiting().size()),
          .running = static_cast<std::uint32_t>(jobs_.active().size()),
          .finished = finished_count_};
}

std::map<std::string, Counts> JobManager::counts_by_class() const {
  std::map<std::string, Counts> counts;
  for (const auto& [id, job] : jobs_.waiting()) ++counts[job->spec.class_name].queued;
  for (const auto& [id, job] : jobs_.active()) ++counts[job->spec.class_name].running;
  return counts;
}

core::MemoryAccount JobManager::memory() const {
  core::MemoryAccount account{
      .total = machine_.total_memory,
      .jobs_max = machine_.total_memory - core::host_memory_reserve(settings_, machine_.total_memory)};
  for (const auto& [id, job] : jobs_.active()) account.reserved += core::memory_claim(job->spec.limits);
  return account;
}

core::CoreAllocations JobManager::core_allocations() const {
  core::CoreAllocations allocations;
  for (const auto& [id, job] : jobs_.active()) {
    if (auto cpus = own_cpus(*job); !cpus.empty()) allocations.emplace(id, std::move(cpus));
  }
  return allocations;
}

core::CpuAllotment JobManager::cpu_allotment(const core::Job& job) const {
  std::uint32_t sharing = 1;
  for (const auto& [id, other] : jobs_.active()) {
    if (id != job.id && other->attempt.reserved_cpus.empty()) ++sharing;
  }
  return core::cpu_allotment(topology(), own_cpus(job), core::shared_cpus(topology(), core_allocations()),
                             job.spec.limits, sharing);
}

core::Expected<core::Advice> JobManager::advise(std::uint32_t jobs, const std::string& directory) const {
  return core::advise_machine(topology(), jobs, kernel::storage_of(directory));
}

core::Expected<core::Advice> JobManager::advise(const Caller& caller, core::JobId id) {
  const auto known = recall(id);
  if (!known) return tl::unexpected(known.error());
  const core::Job& job = **known;
  const bool finished = core::is_finished(job.state);
  const bool owned = job.owner == caller.uid || caller.privileged;
  return core::advise_job({.job = id,
                           .finished = finished,
                           .run_time = core::run_time(job, now()),
                           .usage = finished ? job.attempt.usage : runner_->usage(job),
                           .allotment = cpu_allotment(job),
                           .storage = owned ? kernel::storage_of(job.spec.workdir) : core::Storage{}});
}

Progress JobManager::progress(core::JobId id) const {
  const auto found = progress_.find(id);
  return found == progress_.end() ? Progress{} : found->second;
}

std::vector<std::string> JobManager::problems() const {
  std::vector<std::string> sentences;
  sentences.reserve(problems_.size());
  for (const auto& [key, sentence] : problems_) sentences.push_back(sentence);
  return sentences;
}

void JobManager::set_problem(const std::string& key, const std::string& sentence) {
  const auto found = problems_.find(key);
  const bool known = found != problems_.end();
  if (sentence.empty() ? !known : (known && found->second == sentence)) return;
  if (sentence.empty()) {
    problems_.erase(found);
  } else {
    problems_[key] = sentence;
    log::warning(sentence);
  }
  if (observer_ != nullptr) observer_->service_state_changed();
}

}  // namespace mljobd
