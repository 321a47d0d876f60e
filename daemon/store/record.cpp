#include "store/record.hpp"

#include <cstddef>
#include <utility>
#include <variant>

#include "store/record_archive.hpp"

// Beside the types that they describe: argument-dependent lookup, by which the archives find them, does not look into
// unnamed namespaces.
namespace mljobd::core {

using store::Either;

template <class Archive>
void describe(Archive& archive, Either<Limits> auto& limits) {
  archive("memory", limits.memory);
  archive("memory_learned", limits.memory_learned);
  archive("memory_max", limits.memory_max);
  archive("memory_high", limits.memory_high);
  archive("swap_max", limits.swap_max);
  archive("tasks_max", limits.tasks_max);
  archive("cpu_weight", limits.cpu_weight);
  archive("io_weight", limits.io_weight);
  archive("cpu_quota_percent", limits.cpu_quota_percent);
  archive("cpu_list", limits.cpu_list);
  archive("cpus", limits.cpus);
  archive("oom_score_adjust", limits.oom_score_adjust);
  archive("oom_policy", limits.oom_policy);
  archive("private_shm", limits.private_shm);
}

template <class Archive>
void describe(Archive& archive, Either<Dependency> auto& dependency) {
  archive("kind", dependency.kind);
  archive("job", dependency.job);
}

template <class Archive>
void describe(Archive& archive, Either<WarnSignal> auto& signal) {
  archive("number", signal.number);
  archive("before", signal.before);
  archive("to", signal.to);
}

template <class Archive>
void describe(Archive& archive, Either<CheckpointSignal> auto& signal) {
  archive("number", signal.number);
  archive("grace", signal.grace);
}

template <class Archive>
void describe(Archive& archive, Either<ArrayPlace> auto& place) {
  archive("array", place.array);
  archive("index", place.index);
  archive("count", place.count);
  archive("minimum", place.minimum);
  archive("maximum", place.maximum);
  archive("max_running", place.max_running);
}

template <class Archive>
void describe(Archive& archive, Either<JobSpec> auto& specification) {
  archive("kind", specification.kind);
  archive("name", specification.name);
  archive("class", specification.class_name);
  archive("command", specification.command);
  archive("workdir", specification.workdir);
  archive("limits", specification.limits);
  archive("priority", specification.priority);
  archive("time_limit", specification.time_limit);
  archive("stop_timeout", specification.stop_timeout);
  archive("hold", specification.hold);
  archive("requeue", specification.requeue);
  archive("after", specification.after);
  archive("begin", specification.begin);
  archive("warn_signal", specification.warn_signal);
  archive("checkpoint_signal", specification.checkpoint_signal);
  archive("parkable", specification.parkable);
  archive("warmup", specification.warmup);
  archive("max_retries", specification.max_retries);
  archive("retry_memory_percent", specification.retry_memory_percent);
  archive("singleton", specification.singleton);
  archive("key", specification.key);
  archive("output", specification.output);
  archive("error", specification.error);
  archive("open_mode", specification.open_mode);
  archive("comment", specification.comment);
  archive("labels", specification.labels);
}

template <class Archive>
void describe(Archive& archive, Either<Cause> auto& cause) {
  archive("what", cause.what);
  archive("limit", cause.limit);
  archive("peak", cause.peak);
  archive("shmem", cause.shmem);
  archive("victim", cause.victim);
  archive("by", cause.by);
  archive("advice", cause.advice);
}

template <class Archive>
void describe(Archive& archive, Either<Usage> auto& usage) {
  archive("memory_current", usage.memory_current);
  archive("memory_peak", usage.memory_peak);
  archive("memory_anon", usage.memory_anon);
  archive("memory_file", usage.memory_file);
  archive("memory_shmem", usage.memory_shmem);
  archive("swap_current", usage.swap_current);
  archive("cpu_time", usage.cpu_time);
  archive("io_read", usage.io_read);
  archive("io_written", usage.io_written);
  archive("tasks", usage.tasks);
  archive("cpu_periods", usage.cpu_periods);
  archive("cpu_throttled_periods", usage.cpu_throttled_periods);
  archive("cpu_waiting", usage.cpu_waiting);
  archive("io_waiting", usage.io_waiting);
  archive("io_stalled", usage.io_stalled);
  archive("memory_waiting", usage.memory_waiting);
  archive("memory_stalled", usage.memory_stalled);
}

template <class Archive>
void describe(Archive& archive, Either<Attempt> auto& attempt) {
  archive("number", attempt.number);
  archive("boot_id", attempt.boot_id);
  archive("started", attempt.started);
  archive("started_boot", attempt.started_boot);
  archive("ended", attempt.ended);
  archive("frozen_total", attempt.frozen_total);
  archive("exit_code", attempt.exit_code);
  archive("exit_signal", attempt.exit_signal);
  archive("usage", attempt.usage);
  archive("warned", attempt.warned);
  archive("checkpointed", attempt.checkpointed);
  archive("class_oom_before", attempt.class_oom_before);
  archive("total_oom_before", attempt.total_oom_before);
  archive("reserved_cpus", attempt.reserved_cpus);
}

template <class Archive>
void describe(Archive& archive, Either<Queued> auto& state) {
  archive("reason", state.reason);
  archive("detail", state.detail);
}
template <class Archive>
void describe(Archive& /*archive*/, Either<Held> auto& /*state*/) {}
template <class Archive>
void describe(Archive& /*archive*/, Either<Starting> auto& /*state*/) {}
template <class Archive>
void describe(Archive& /*archive*/, Either<Running> auto& /*state*/) {}
template <class Archive>
void describe(Archive& archive, Either<Frozen> auto& state) {
  archive("since", state.since);
}
template <class Archive>
void describe(Archive& archive, Either<Parked> auto& state) {
  archive("since", state.since);
  archive("by_hand", state.by_hand);
  archive("moving", state.moving);
  archive("reason", state.reason);
}
template <class Archive>
void describe(Archive& archive, Either<Stopping> auto& state) {
  archive("reason", state.reason);
  archive("by", state.by);
  archive("since", state.since);
  archive("saves_until", state.saves_until);
}
template <class Archive>
void describe(Archive& archive, Either<Finished> auto& state) {
  archive("result", state.result);
  archive("cause", state.cause);
}

constexpr const char* state_key = "state";

static void describe(store::Writer& archive, const JobState& state) {
  archive(state_key, std::string(to_word(state)));
  std::visit([&](const auto& alternative) { describe(archive, alternative); }, state);
}

template <std::size_t... index>
static bool read_state(store::Reader& archive, const std::string& word, JobState& state,
                       std::index_sequence<index...>) {
  const auto read_as = [&](JobState candidate) {
    if (to_word(candidate) != word) return false;
    std::visit([&](auto& alternative) { describe(archive, alternative); }, candidate);
    state = std::move(candidate);
    return true;
  };
  return (read_as(JobState(std::in_place_index<index>)) || ...);
}

static void describe(store::Reader& archive, JobState& state) {
  std::string word;
  archive(state_key, word);
  if (!read_state(archive, word, state, std::make_index_sequence<std::variant_size_v<JobState>>())) {
    throw store::RecordError("unknown word '" + word + "'");
  }
}

// The specification and what filters look at (id, owner, time of submission) are stored beside the record.
template <class Archive>
void describe(Archive& archive, Either<Job> auto& job) {
  archive("owner_name", job.owner_name);
  archive("state", job.state);
  archive("attempt", job.attempt);
  archive("array", job.array);
  archive("retries", job.retries);
  archive("retry_time", job.retry_time);
  archive("preempted_memory", job.preempted_memory);
}

}  // namespace mljobd::core

namespace mljobd::store {
std::string encode_record(const core::Job& job) { return Writer::encode(job).dump(); }
std::string encode_specification(const core::JobSpec& specification) { return Writer::encode(specification).dump(); }
std::string encode_environment(const core::JobSpec& specification) {
  return Writer::encode(specification.environment).dump();
}

core::Expected<void> decode_record(std::string_view text, core::Job& job) { return decode_text(text, job); }
core::Expected<void> decode_specification(std::string_view text, core::JobSpec& specification) {
  return decode_text(text, specification);
}
core::Expected<void> decode_environment(std::string_view text, core::JobSpec& specification) {
  return decode_text(text, specification.environment);
}

}  // namespace mljobd::store
