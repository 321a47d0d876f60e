#include "core/job_view.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "core/lifecycle.hpp"
#include "core/text.hpp"
#include "core/unit_names.hpp"
#include "core/whole_microseconds.hpp"

namespace mljobd::core {
namespace {

// 0 = not yet.
std::uint64_t to_number(const std::optional<RealTime>& moment) {
  return moment ? whole_microseconds(moment->time_since_epoch()) : 0;
}

template <class T>
void put(ValueMap& map, std::string_view key, const std::optional<T>& value) {
  if (value) map.emplace(key, *value);
}

void put(ValueMap& map, std::string_view key, const std::optional<Microseconds>& duration) {
  if (duration) map.emplace(key, whole_microseconds(*duration));
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

using Field = std::optional<Value>;

const Finished* end_of(const RowSource& source) { return std::get_if<Finished>(&source.job.state); }

Field result_field(const RowSource& source) {
  return end_of(source) != nullptr ? std::string(to_word(end_of(source)->result)) : std::string();
}

Field cause_field(const RowSource& source) {
  return end_of(source) != nullptr ? cause_view(end_of(source)->cause) : ValueMap{};
}

// A job that was never tried has no units.
Field unit_field(const RowSource& source) {
  return source.job.attempt.number > 0 ? job_unit(source.job) : std::string();
}

Field slice_field(const RowSource& source) {
  return source.job.attempt.number > 0 ? job_slice(source.job) : std::string();
}

template <auto Member>
Field array_field(const RowSource& source) {
  if (!source.job.array) return std::nullopt;
  return *source.job.array.*Member;
}

Field frozen_since_field(const RowSource& source) {
  const auto since = standing_since(source.job.state);
  if (!since) return std::nullopt;
  return whole_microseconds(source.now.real.time_since_epoch() - (source.now.boot - *since));
}

Field forecast_field(const RowSource& source) {
  if (source.forecast.empty()) return std::nullopt;
  return source.forecast;
}

Field retries_field(const RowSource& source) {
  if (source.job.retries == 0) return std::nullopt;
  return source.job.retries;
}

}  // namespace

struct RowField {
  std::string_view key;
  std::optional<Value> (*value)(const RowSource&);  // none: the job has nothing of the kind
};

namespace {

constexpr std::array all_row_fields{
    RowField{"id", [](const RowSource& source) -> Field { return source.job.id; }},
    RowField{"name", [](const RowSource& source) -> Field { return source.job.spec.name; }},
    RowField{"class", [](const RowSource& source) -> Field { return source.job.spec.class_name; }},
    RowField{"kind", [](const RowSource& source) -> Field { return std::string(to_word(source.job.spec.kind)); }},
    RowField{"owner", [](const RowSource& source) -> Field { return source.job.owner; }},
    RowField{"owner_name", [](const RowSource& source) -> Field { return source.job.owner_name; }},
    RowField{"state", [](const RowSource& source) -> Field { return std::string(to_word(source.job.state)); }},
    RowField{"reason", [](const RowSource& source) -> Field { return reason_text(source.job.state); }},
    RowField{"attempt", [](const RowSource& source) -> Field { return source.job.attempt.number; }},
    RowField{"unit", unit_field},
    RowField{"slice", slice_field},
    RowField{
        "submit_time",
        [](const RowSource& source) -> Field { return whole_microseconds(source.job.submitted.time_since_epoch()); }},
    RowField{"start_time", [](const RowSource& source) -> Field { return to_number(source.job.attempt.started); }},
    RowField{"end_time", [](const RowSource& source) -> Field { return to_number(source.job.attempt.ended); }},
    RowField{"run_time",
             [](const RowSource& source) -> Field { return whole_microseconds(run_time(source.job, source.now)); }},
    RowField{"exit_code", [](const RowSource& source) -> Field { return source.job.attempt.exit_code; }},
    RowField{"exit_signal", [](const RowSource& source) -> Field { return source.job.attempt.exit_signal; }},
    RowField{"result", result_field},
    RowField{"cause", cause_field},
    RowField{"limits", [](const RowSource& source) -> Field { return limits_view(source.job.spec); }},
    RowField{"usage", [](const RowSource& source) -> Field { return usage_view(source.usage); }},
    RowField{"priority", [](const RowSource& source) -> Field { return source.job.spec.priority; }},
    RowField{"warnings", [](const RowSource& source) -> Field { return source.warnings; }},
    RowField{"array_id", array_field<&ArrayPlace::array>},
    RowField{"array_index", array_field<&ArrayPlace::index>},
    RowField{"array_count", array_field<&ArrayPlace::count>},
    RowField{"retries", retries_field},
    RowField{"frozen_since", frozen_since_field},
    RowField{"forecast", forecast_field},
};

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
  ValueMap view{{"memory_current", usage.memory_current},
                {"memory_peak", usage.memory_peak},
                {"memory_anon", usage.memory_anon},
                {"memory_file", usage.memory_file},
                {"memory_shmem", usage.memory_shmem},
                {"swap_current", usage.swap_current},
                {"cpu_time", whole_microseconds(usage.cpu_time)},
                {"io_read", usage.io_read},
                {"io_written", usage.io_written},
                {"tasks", usage.tasks},
                {"cpu_periods", usage.cpu_periods},
                {"cpu_throttled_periods", usage.cpu_throttled_periods}};
  put(view, "cpu_waiting", usage.cpu_waiting);
  put(view, "io_waiting", usage.io_waiting);
  put(view, "io_stalled", usage.io_stalled);
  put(view, "memory_waiting", usage.memory_waiting);
  put(view, "memory_stalled", usage.memory_stalled);
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
  if (spec.begin) view.emplace("begin", whole_microseconds(spec.begin->time_since_epoch()));
  if (spec.max_retries > 0) view.emplace("max_retries", spec.max_retries);
  if (spec.retry_memory_percent > 0) view.emplace("retry_memory_percent", spec.retry_memory_percent);
  if (spec.warn_signal) {
    view.emplace("warn_signal", SignalAndTime(spec.warn_signal->number, whole_microseconds(spec.warn_signal->before)));
    view.emplace("warn_signal_to", std::string(to_word(spec.warn_signal->to)));
  }
  if (spec.checkpoint_signal) {
    const auto& signal = *spec.checkpoint_signal;
    view.emplace("checkpoint_signal", SignalAndTime(signal.number, whole_microseconds(signal.grace)));
  }
  if (!spec.parkable) view.emplace("parkable", false);
  put(view, "warmup", spec.warmup);
  put_content(view, "output", spec.output);
  put_content(view, "error", spec.error);
  if (spec.open_mode != OpenMode::append) view.emplace("open_mode", std::string(to_word(spec.open_mode)));
  put_content(view, "comment", spec.comment);
  put_content(view, "labels", spec.labels);
  return view;
}

Expected<RowFields> row_fields(const std::vector<std::string>& keys) {
  RowFields fields;
  if (keys.empty()) {
    for (const auto& field : all_row_fields) fields.push_back(&field);
    return fields;
  }
  for (const auto& key : keys) {
    const auto* const field = std::find_if(all_row_fields.begin(), all_row_fields.end(),
                                           [&](const RowField& entry) { return entry.key == key; });
    if (field == all_row_fields.end()) {
      std::string message = "\"fields\": a job has no " + quoted(key) + "; there are";
      for (const auto& entry : all_row_fields) message.append(" ").append(entry.key);
      return failure(ErrorCode::invalid_spec, std::move(message));
    }
    // Once each: a caller who repeats one a million times shall not have it a million times for every job.
    if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
  }
  return fields;
}

bool contains(const RowFields& fields, std::string_view key) {
  return std::any_of(fields.begin(), fields.end(), [&](const RowField* field) { return field->key == key; });
}

ValueMap job_row(const RowSource& source, const RowFields& fields) {
  ValueMap row;
  for (const auto* field : fields) {
    if (auto value = field->value(source)) row.emplace(field->key, *std::move(value));
  }
  return row;
}

std::string reason_text(const JobState& state) {
  if (const auto* queued = std::get_if<Queued>(&state)) return describe(*queued);
  if (const auto* finished = std::get_if<Finished>(&state)) return describe(*finished);
  if (const auto* parked = std::get_if<Parked>(&state)) return parked->reason;
  return std::holds_alternative<Held>(state) ? std::string(to_word(PendingReason::held)) : std::string();
}

Microseconds run_time(const Job& job, Now now) {
  const Attempt& attempt = job.attempt;
  Microseconds total{0};
  if (is_finished(job.state)) {
    // The boot clock of the end is not kept: it means nothing after a reboot, when most of the history is read.
    if (attempt.started && attempt.ended) total = between(*attempt.started, *attempt.ended);
  } else if (has_units(job.state) && attempt.started_boot) {
    total = standing_since(job.state).value_or(now.boot) - *attempt.started_boot;
  }
  return std::max(total - attempt.frozen_total, Microseconds{0});
}

}  // namespace mljobd::core
