// How submissions become jobs: one, an array, a pipeline; what they wait for, and what is learned for them.
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "core/dependencies.hpp"
#include "core/job_graph.hpp"
#include "core/job_view.hpp"
#include "core/text.hpp"
#include "job_manager.hpp"
#include "users.hpp"

namespace mljobd {
namespace {

constexpr std::size_t most_stages = 1000;

tl::unexpected<core::Error> refuse(std::string message) {
  return core::failure(core::ErrorCode::invalid_spec, std::move(message));
}

std::string text_of(const core::ValueMap& spec, std::string_view key) {
  const auto found = spec.find(key);
  const auto* text = found == spec.end() ? nullptr : std::get_if<std::string>(&found->second.storage);
  return text == nullptr ? std::string() : *text;
}

std::size_t job_count(const core::JobSpec& spec) { return spec.array ? spec.array->indices.size() : 1; }

// Stages have names of their own, and none waits for itself.
core::Expected<void> check_graph(const std::vector<core::ValueMap>& specs, const std::vector<std::string>& names) {
  std::vector<core::NamedDependencies> graph;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    graph.push_back({.name = names[i], .after = core::names_after(specs[i])});
  }
  const auto mistakes = core::check_graph(graph);
  return mistakes.empty() ? core::Expected<void>{} : refuse(mistakes.front().message);
}

}  // namespace

core::Expected<std::vector<core::JobId>> JobManager::jobs_of_array(core::JobId id) {
  const auto known = recall(id);
  if (!known) return tl::unexpected(known.error());
  const auto& place = (*known)->array;
  if (!place || place->array != id) return std::vector{id};
  std::vector<core::JobId> ids(place->count);
  for (std::uint32_t i = 0; i < place->count; ++i) ids[i] = id + i;
  return ids;
}

// Of an array that has begun, the jobs that have ended count as well: one of them may have failed.
std::vector<core::JobId> JobManager::whole_submissions(const std::vector<core::JobId>& some) const {
  std::set<core::JobId> ids;
  for (const auto id : some) {
    const auto& place = jobs_.find(id)->array;
    if (!place) {
      ids.insert(id);
    } else if (!ids.contains(place->array)) {
      for (std::uint32_t i = 0; i < place->count; ++i) ids.insert(place->array + i);
    }
  }
  return {ids.begin(), ids.end()};
}

core::Expected<std::vector<core::JobId>> JobManager::find_jobs(const Caller& caller, const std::string& reference) {
  if (const auto id = core::to_number<core::JobId>(reference)) return jobs_of_array(*id);
  // 42_3: of array 42 the job with index 3.
  const auto underscore = reference.find('_');
  const auto array = core::to_number<core::JobId>(std::string_view(reference).substr(0, underscore));
  const auto index = underscore == std::string::npos
                         ? std::nullopt
                         : core::to_number<core::JobId>(std::string_view(reference).substr(underscore + 1));
  if (array && index) {
    const auto ids = jobs_of_array(*array);
    if (!ids) return ids;
    for (const auto id : *ids) {
      const auto job = recall(id);
      if (job && (*job)->array && (*job)->array->index == *index) return std::vector{id};
    }
  }
  const auto unfinished = jobs_.unfinished_named(caller.uid, reference);
  if (!unfinished.empty()) return whole_submissions(unfinished);
  const auto latest = store_.list({.owner = caller.uid, .name = reference, .limit = 1});
  if (!latest) return tl::unexpected(latest.error());
  if (latest->empty()) {
    return core::failure(core::ErrorCode::no_such_job,
                         "you have no job " + reference + " to wait for; `jobctl list --all` shows the ones there are");
  }
  const core::Job& job = latest->front();
  return jobs_of_array(job.array ? job.array->array : job.id);
}

std::optional<core::JobId> JobManager::job_with_key(const Caller& caller, const std::string& key) const {
  if (key.empty()) return std::nullopt;
  if (const auto id = jobs_.with_key(caller.uid, key)) return id;
  return store_.find_key(caller.uid, key).value_or(std::nullopt);
}

// A job that names no memory, of a class without a default, is taken to need what it needed before, and a fifth more.
void JobManager::learn_memory(const Caller& caller, core::JobSpec& spec) const {
  if (spec.limits.memory || spec.limits.memory_max) return;
  const auto peak = store_.memory_peak(caller.uid, spec.name);
  if (!peak || !*peak) return;
  const core::Bytes needed = std::min(**peak, core::unlimited / 2);
  spec.limits.memory_learned = std::min(needed + needed / 5, memory().jobs_max);
}

void JobManager::submit(const Caller& caller, const core::ValueMap& spec, bool dry_run, Reply reply) {
  const auto find = [&](const std::string& reference) { return find_jobs(caller, reference); };
  auto valid = core::validate_spec(spec, validation_context(caller, core::JobKind::batch, find));
  if (!valid) return reply(tl::unexpected(valid.error()));
  if (const auto known = job_with_key(caller, valid->key)) return reply(*known);
  if (const auto allowed = check_quota(caller, job_count(*valid)); !allowed) {
    return reply(tl::unexpected(allowed.error()));
  }
  if (const auto room = check_room_for_output(); !room) return reply(tl::unexpected(room.error()));
  if (dry_run) return reply(core::JobId{0});
  learn_memory(caller, *valid);
  const auto first = add_jobs(caller, std::move(*valid));
  if (!first) return reply(tl::unexpected(first.error()));
  replies_.emplace_back(*first, std::move(reply));
}

core::Expected<core::JobId> JobManager::add_jobs(const Caller& caller, core::JobSpec spec) {
  if (!spec.array) {
    const auto job = add_job(caller, std::move(spec));
    if (!job) return tl::unexpected(job.error());
    return (*job)->id;
  }
  const core::JobId first = last_id_ + 1;
  const auto array = *std::exchange(spec.array, std::nullopt);
  // The key is of the submission, whose answer is the first job.
  std::string key = std::exchange(spec.key, "");
  for (const auto& place : places(array, first)) {
    core::JobSpec one = spec;
    one.key = std::exchange(key, "");
    if (const auto job = add_job(caller, std::move(one), place); !job) return tl::unexpected(job.error());
  }
  return first;
}

std::vector<core::ArrayPlace> JobManager::places(const core::ArrayIndices& array, core::JobId first) {
  std::vector<core::ArrayPlace> places;
  for (const auto index : array.indices) {
    places.push_back({.array = first,
                      .index = index,
                      .count = static_cast<std::uint32_t>(array.indices.size()),
                      .minimum = array.indices.front(),
                      .maximum = array.indices.back(),
                      .max_running = array.max_running});
  }
  return places;
}

core::Expected<std::vector<JobManager::ValidJob>> JobManager::validate_pipeline(
    const Caller& caller, const std::vector<core::ValueMap>& specs) {
  if (specs.empty() || specs.size() > most_stages) {
    return core::failure(core::ErrorCode::limit_exceeded,
                         "a pipeline has 1 to " + std::to_string(most_stages) + " stages");
  }
  std::vector<std::string> names;
  names.reserve(specs.size());
  for (const auto& spec : specs) names.push_back(text_of(spec, "name"));
  if (auto checked = check_graph(specs, names); !checked) return tl::unexpected(std::move(checked).error());
  // Which ids the stages will have depends only on how many jobs those before them in the list stand for.
  std::map<std::string, std::vector<core::JobId>, std::less<>> stages;
  core::JobId next = last_id_;
  std::vector<core::JobId> first_ids;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    first_ids.push_back(next + 1);
    const std::string array = text_of(specs[i], "array");
    const auto indices = array.empty() ? core::ArrayIndices{.indices = {0}}
                                       : core::parse_array_indices(array).value_or(core::ArrayIndices{.indices = {0}});
    auto& ids = stages[names[i]];
    for (std::size_t job = 0; job < indices.indices.size(); ++job) ids.push_back(++next);
  }
  const auto find = [&](const std::string& reference) -> core::Expected<std::vector<core::JobId>> {
    const auto stage = stages.find(reference);
    return stage != stages.end() && !reference.empty() ? stage->second : find_jobs(caller, reference);
  };
  std::vector<ValidJob> valid;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto spec = core::validate_spec(specs[i], validation_context(caller, core::JobKind::batch, find));
    const std::string label = names[i].empty() ? "stage " + std::to_string(i + 1) : "stage '" + names[i] + "'";
    if (!spec) return core::failure(spec.error().code, label + ": " + spec.error().message);
    if (!spec->key.empty() && specs.size() > 1)
      return refuse(label + ": a key is for single submissions: leave it out");
    valid.push_back({.spec = std::move(*spec), .first_id = first_ids[i]});
  }
  return valid;
}

core::PreviewInput JobManager::preview_input(const std::vector<core::Job>& tried, std::deque<std::string>& groups) {
  const auto lookup = [this](core::JobId id) {
    // Higher ids are those of the jobs that are tried.
    return id > last_id_ ? core::KnownJob{.phase = core::KnownJob::Phase::waiting} : known_job(id);
  };
  core::PreviewInput input{.state = scheduler_input(groups), .lookup = lookup};
  const auto add_dependent = [&](const core::Job& job) {
    if (!job.spec.after.empty()) input.dependents.push_back({.id = job.id, .after = job.spec.after});
  };
  for (const auto& [id, job] : jobs_.waiting()) add_dependent(*job);
  for (const auto& job : tried) {
    input.state.waiting.push_back(waiting_job(job, groups));
    add_dependent(job);
  }
  return input;
}

// As they would be in the queue, with the ids that they would get.
std::vector<core::Job> JobManager::tried_jobs(const Caller& caller, std::vector<ValidJob> valid,
                                              std::size_t count) const {
  std::vector<core::Job> tried;
  tried.reserve(count);
  for (auto& one : valid) {
    learn_memory(caller, one.spec);
    core::Job job;
    job.id = one.first_id;
    job.owner = caller.uid;
    job.owner_name = user_label(caller.uid);
    job.submitted = loop_.now().real;
    if (one.spec.hold) job.state = core::Held{};
    const auto array = std::exchange(one.spec.array, std::nullopt);
    job.spec = std::move(one.spec);
    job.spec.environment.clear();
    if (!array) {
      tried.push_back(std::move(job));
      continue;
    }
    for (const auto& place : places(*array, one.first_id)) {
      job.array = place;
      tried.push_back(job);
      ++job.id;
    }
  }
  return tried;
}

core::Expected<std::vector<PlannedJob>> JobManager::preview(const Caller& caller,
                                                            const std::vector<core::ValueMap>& specs) {
  auto valid = validate_pipeline(caller, specs);
  if (!valid) return tl::unexpected(valid.error());
  std::size_t count = 0;
  for (const auto& job : *valid) count += job_count(job.spec);
  if (const auto allowed = check_quota(caller, count); !allowed) return tl::unexpected(allowed.error());
  const auto tried = tried_jobs(caller, std::move(*valid), count);
  std::deque<std::string> groups;
  std::vector<PlannedJob> planned;
  for (auto& entry : core::preview(preview_input(tried, groups))) {
    if (entry.id <= last_id_) continue;
    const core::Job& job = tried[entry.id - tried.front().id];
    planned.push_back({.id = entry.id,
                       .name = job.spec.name,
                       .array_index = job.array ? std::optional(job.array->index) : std::nullopt,
                       .start = entry.start,
                       .reason = core::reason_text(core::Queued{.reason = entry.reason, .detail = entry.detail})});
  }
  return planned;
}

void JobManager::submit_pipeline(const Caller& caller, const std::vector<core::ValueMap>& specs, bool dry_run,
                                 ManyReply reply) {
  auto valid = validate_pipeline(caller, specs);
  if (!valid) return reply(tl::unexpected(valid.error()));
  std::size_t jobs = 0;
  for (const auto& job : *valid) jobs += job_count(job.spec);
  if (const auto allowed = check_quota(caller, jobs); !allowed) return reply(tl::unexpected(allowed.error()));
  if (const auto room = check_room_for_output(); !room) return reply(tl::unexpected(room.error()));
  if (dry_run) return reply(std::vector<core::JobId>(specs.size(), 0));
  std::vector<core::JobId> ids;
  for (auto& job : *valid) {
    learn_memory(caller, job.spec);
    ids.push_back(job.first_id);
    // The only failure is a user without a name, and then the first stage has failed already.
    if (const auto first = add_jobs(caller, std::move(job.spec)); !first) return reply(tl::unexpected(first.error()));
  }
  replies_.emplace_back(ids.front(), [ids, reply = std::move(reply)](const core::Expected<core::JobId>& stored) {
    if (stored) return reply(ids);
    reply(tl::unexpected(stored.error()));
  });
}

}  // namespace mljobd
