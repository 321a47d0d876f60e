#include "core/job_view.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "core/unit_names.hpp"

namespace mljobd::core {
namespace {

std::uint64_t to_number(Microseconds duration) {
  return static_cast<std::uint64_t>(std::max<Microseconds::rep>(duration.count(), 0));
}

// 0 = not yet.
std::uint64_t to_number(const std::optional<RealTime>& moment) {
  return moment ? to_number(moment->time_since_epoch()) : 0;
}

template <class T>
void put(ValueMap& map, std::string_view key, const std::optional<T>& value) {
  if (value) map.emplace(key, *value);
}

void put(ValueMap& map, std::string_view key, const std::optional<Microseconds>& duration) {
  if (duration) map.emplace(key, to_number(*duration));
}

// Texts, lists and dictionaries that are empty were not given.
template <class Container>
void put_content(ValueMap& map, std::string_view key, const Container& content) {
  if (!content.empty()) map.emplace(key, content);
}

void put_flag(ValueMap& map, std::string_view key, bool flag) {
  if (flag) map.emplace(key, flag);
}

StringPairs after_view(const JobSpec& spec) {
  StringPairs pairs;
  for (const auto& dependency : spec.after) {
    pairs.emplace_back(std::string(to_word(dependency.kind)), std::to_string(dependency.job));
  }
  return pairs;
}

Microseconds between(RealTime begin, RealTime end) { return std::max(end - begin, Microseconds{0}); }

std::string describe(const Queued& queued) {
  std::string text(to_word(queued.reason));
  if (!queued.detail.empty()) text += " (" + queued.detail + ")";
  return text;
}

std::string describe(const Finished& finished) {
  const auto result = to_word(finished.result);
  const auto what = to_word(finished.cause.what);
  return what.empty() || what == result ? std::string(result) : std::string(result).append(" ").append(what);
}

}  // namespace

ValueMap limits_view(const JobSpec& spec) {
  const Limits& limits = spec.limits;
  ValueMap view;
  put(view, "memory", limits.memory);
  put(view, "memory_learned", limits.memory_learned);
  put(view, "memory_max", limits.memory_max);
  put(view, "memory_high", limits.memory_high);
  put(view, "swap_max", limits.swap_max);
  put(view, "tasks_max", limits.tasks_max);
  put(view, "cpu_weight", limits.cpu_weight);
  put(view, "io_weight", limits.io_weight);
  put(view, "cpu_quota_percent", limits.cpu_quota_percent);
  put(view, "cpu_list", limits.cpu_list);
  if (limits.cpus > 0) view.emplace("cpus", limits.cpus);
  put(view, "oom_score_adjust", limits.oom_score_adjust);
  put(view, "private_shm", limits.private_shm);
  put(view, "time_limit", spec.time_limit);
  put(view, "stop_timeout", spec.stop_timeout);
  view.emplace("oom_policy", std::string(to_word(limits.oom_policy)));
  view.emplace("priority", spec.priority);
  return view;
}

ValueMap cause_view(const Cause& cause) {
  ValueMap view;
  put_content(view, "what", std::string(to_word(cause.what)));
  put(view, "limit", cause.limit);
  put(view, "peak", cause.peak);
  put(view, "shmem", cause.shmem);
  put(view, "victim", cause.victim);
  put_content(view, "by", cause.by);
  put_content(view, "advice", cause.advice);
  return view;
}

ValueMap usage_view(const Usage& usage) {
  ValueMap view{{"memory_current", usage.memory_current}, {"memory_peak", usage.memory_peak},
                {"memory_anon", usage.memory_anon},       {"memory_file", usage.memory_file},
                {"memory_shmem", usage.memory_shmem},     {"swap_current", usage.swap_current},
                {"cpu_time", to_number(usage.cpu_time)},  {"io_read", usage.io_read},
                {"io_written", usage.io_written},         {"tasks", usage.tasks},
                {"cpu_periods", usage.cpu_periods},       {"cpu_throttled_periods", usage.cpu_throttled_periods}};
  put(view, "cpu_waiting", usage.cpu_waiting);
  put(view, "io_waiting", usage.io_waiting);
  return view;
}

ValueMap spec_view(const JobSpec& spec) {
  ValueMap view = limits_view(spec);
  view.erase("memory_learned");  // nobody asked for it
  view.emplace("name", spec.name);
  view.emplace("class", spec.class_name);
  view.emplace("command", spec.command);
  put_content(view, "workdir", spec.workdir);
  put_content(view, "environment", spec.environment);
  put_flag(view, "hold", spec.hold);
  put_flag(view, "requeue", spec.requeue);
  put_flag(view, "singleton", spec.singleton);
  put_content(view, "after", after_view(spec));
  put_content(view, "key", spec.key);
  if (spec.begin) view.emplace("begin", to_number(spec.begin->time_since_epoch()));
  if (spec.max_retries > 0) view.emplace("max_retries", spec.max_retries);
  if (spec.retry_memory_percent > 0) view.emplace("retry_memory_percent", spec.retry_memory_percent);
  if (spec.warn_signal) {
    view.emplace("warn_signal", SignalAndTime(spec.warn_signal->number, to_number(spec.warn_signal->before)));
    view.emplace("warn_signal_to", std::string(to_word(spec.warn_signal->to)));
  }
  put_content(view, "output", spec.output);
  put_content(view, "error", spec.error);
  if (spec.open_mode != OpenMode::append) view.emplace("open_mode", std::string(to_word(spec.open_mode)));
  put_content(view, "comment", spec.comment);
  put_content(view, "labels", spec.labels);
  return view;
}

ValueMap job_row(const Job& job, Now now, const std::vector<std::string>& warnings) {
  const Attempt& attempt = job.attempt;
  const bool tried = attempt.number > 0;
  const auto* const finished = std::get_if<Finished>(&job.state);
  ValueMap row{{"id", job.id},
               {"name", job.spec.name},
               {"class", job.spec.class_name},
               {"kind", std::string(to_word(job.spec.kind))},
               {"owner", job.owner},
               {"owner_name", job.owner_name},
               {"state", std::string(to_word(job.state))},
               {"reason", reason_text(job.state)},
               {"attempt", attempt.number},
               {"unit", tried ? job_unit(job) : std::string()},
               {"slice", tried ? job_slice(job) : std::string()},
               {"submit_time", to_number(job.submitted.time_since_epoch())},
               {"start_time", to_number(attempt.started)},
               {"end_time", to_number(attempt.ended)},
               {"run_time", to_number(run_time(job, now))},
               {"exit_code", attempt.exit_code},
               {"exit_signal", attempt.exit_signal},
               {"result", finished != nullptr ? std::string(to_word(finished->result)) : std::string()},
               {"cause", finished != nullptr ? cause_view(finished->cause) : ValueMap{}},
               {"limits", limits_view(job.spec)},
               {"usage", usage_view(attempt.usage)},
               {"priority", job.spec.priority},
               {"warnings", warnings}};
  if (job.array) {
    row.emplace("array_id", job.array->array);
    row.emplace("array_index", job.array->index);
    row.emplace("array_count", job.array->count);
  }
  if (job.retries > 0) row.emplace("retries", job.retries);
  return row;
}

std::string reason_text(const JobState& state) {
  if (const auto* queued = std::get_if<Queued>(&state)) return describe(*queued);
  if (const auto* finished = std::get_if<Finished>(&state)) return describe(*finished);
  return std::holds_alternative<Held>(state) ? std::string(to_word(PendingReason::held)) : std::string();
}

Microseconds run_time(const Job& job, Now now) {
  const Attempt& attempt = job.attempt;
  Microseconds total{0};
  if (is_finished(job.state)) {
    // The boot clock of the end is not kept: it means nothing after a reboot, when most of the history is read.
    if (attempt.started && attempt.ended) total = between(*attempt.started, *attempt.ended);
  } else if (has_units(job.state) && attempt.started_boot) {
    const auto* const frozen = std::get_if<Frozen>(&job.state);
    total = (frozen != nullptr ? frozen->since : now.boot) - *attempt.started_boot;
  }
  return std::max(total - attempt.frozen_total, Microseconds{0});
}

}  // namespace mljobd::core
