#include "core/spec_fields.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "core/signal_names.hpp"
#include "core/spec_texts.hpp"
#include "core/text.hpp"

namespace mljobd::core {
namespace {

enum class Unit { none, bytes, time };
enum class Kinds { all, batch_only };
enum class Change { never, allowed };

// One key: what may be given, and how it gets into the draft. The range is of numbers; texts have theirs in spec_texts.
struct Field {
  std::string_view key;
  Expected<void> (*read)(const Field& field, const Value& value, SpecDraft& draft);
  std::int64_t minimum = 0;
  std::uint64_t maximum = 0;
  Unit unit = Unit::none;
  Change change = Change::never;
  Kinds kinds = Kinds::all;
};

tl::unexpected<Error> refuse(std::string message) { return failure(ErrorCode::invalid_spec, std::move(message)); }

// In the order of the alternatives of Value::Storage.
constexpr std::array<std::string_view, std::variant_size_v<Value::Storage>> type_names{"a boolean",
                                                                                       "a number",
                                                                                       "a number",
                                                                                       "a number",
                                                                                       "a number",
                                                                                       "a floating number",
                                                                                       "a text",
                                                                                       "a list of texts",
                                                                                       "a list of numbers",
                                                                                       "a list of text pairs",
                                                                                       "a text dictionary",
                                                                                       "a signal and time",
                                                                                       "a number and name",
                                                                                       "a dictionary"};

tl::unexpected<Error> wrong_type(const Field& field, const Value& value, std::string_view wanted) {
  return refuse(std::string(field.key)
                    .append(" must be ")
                    .append(wanted)
                    .append(", not ")
                    .append(type_names[value.storage.index()]));
}

std::string shown(Unit unit, std::uint64_t number) {
  constexpr auto longest = static_cast<std::uint64_t>(Microseconds::max().count());
  if (unit == Unit::bytes) return format_bytes(number);
  if (unit == Unit::time && number <= longest) {
    return format_duration(Microseconds(static_cast<Microseconds::rep>(number)));
  }
  return std::to_string(number);
}

template <class Number>
std::string shown_number(Unit unit, Number number) {
  if (std::cmp_less(number, 0)) return std::to_string(number);
  return shown(unit, static_cast<std::uint64_t>(number));
}

// Any integer type of D-Bus will do, as long as the number fits: what a script's binding picks is not its author's say.
template <class Number>
Expected<Number> read_number(const Field& field, const Value& value) {
  return std::visit(
      [&](const auto& given) -> Expected<Number> {
        using Given = std::decay_t<decltype(given)>;
        if constexpr (std::is_integral_v<Given> && !std::is_same_v<Given, bool>) {
          if (std::cmp_greater_equal(given, field.minimum) && std::cmp_less_equal(given, field.maximum)) {
            return static_cast<Number>(given);
          }
          return refuse(std::string(field.key) + " " + shown_number(field.unit, given) +
                        " is out of range: allowed are " + shown_number(field.unit, field.minimum) + " to " +
                        shown(field.unit, field.maximum));
        } else {
          return wrong_type(field, value, "a whole number");
        }
      },
      value.storage);
}

template <auto member>
Expected<void> read_limit(const Field& field, const Value& value, SpecDraft& draft) {
  auto& target = draft.spec.limits.*member;
  using Number = typename std::remove_reference_t<decltype(target)>::value_type;
  return read_number<Number>(field, value).map([&](Number number) { target = number; });
}

template <auto member>
Expected<void> read_time(const Field& field, const Value& value, SpecDraft& draft) {
  return read_number<Microseconds::rep>(field, value).map([&](Microseconds::rep number) {
    draft.spec.*member = Microseconds(number);
  });
}

Expected<void> read_priority(const Field& field, const Value& value, SpecDraft& draft) {
  return read_number<std::int32_t>(field, value).map([&](std::int32_t number) { draft.priority = number; });
}

template <auto member>
Expected<void> read_count(const Field& field, const Value& value, SpecDraft& draft) {
  return read_number<std::uint32_t>(field, value).map([&](std::uint32_t number) { draft.spec.*member = number; });
}

Expected<void> read_cpus(const Field& field, const Value& value, SpecDraft& draft) {
  return read_number<std::uint32_t>(field, value).map([&](std::uint32_t number) { draft.spec.limits.cpus = number; });
}

Expected<void> read_begin(const Field& field, const Value& value, SpecDraft& draft) {
  return read_number<Microseconds::rep>(field, value).map([&](Microseconds::rep number) {
    draft.spec.begin = RealTime(Microseconds(number));
  });
}

template <auto member>
Expected<void> read_flag(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* flag = std::get_if<bool>(&value.storage);
  if (flag == nullptr) return wrong_type(field, value, "a boolean");
  draft.spec.*member = *flag;
  return {};
}

// Anything but a number or a flag: the type is the parameter's, `check` turns what was given into what is kept.
template <auto member, auto check>
Expected<void> read_content(const Field& field, const Value& value, SpecDraft& draft) {
  using Content = std::decay_t<decltype(draft.spec.*member)>;
  const auto* content = std::get_if<Content>(&value.storage);
  if (content == nullptr) return wrong_type(field, value, type_names[Value::Storage(Content{}).index()]);
  return check(field.key, *content).map([&](Content kept) { draft.spec.*member = std::move(kept); });
}

Expected<void> read_oom_policy(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* word = std::get_if<std::string>(&value.storage);
  if (word == nullptr) return wrong_type(field, value, "a text");
  const auto policy = oom_policy_from(*word);
  if (!policy) return refuse("oom_policy " + quoted(*word) + " does not exist: write 'kill' or 'continue'");
  draft.spec.limits.oom_policy = *policy;
  return {};
}

Expected<void> read_open_mode(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* word = std::get_if<std::string>(&value.storage);
  if (word == nullptr) return wrong_type(field, value, "a text");
  const auto mode = open_mode_from(*word);
  if (!mode) return refuse("open_mode " + quoted(*word) + " does not exist: write 'append' or 'truncate'");
  draft.spec.open_mode = *mode;
  return {};
}

Expected<void> read_cpu_list(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* text = std::get_if<std::string>(&value.storage);
  if (text == nullptr) return wrong_type(field, value, "a text");
  const auto cpus = parse_cpu_list(*text);
  if (!cpus) return refuse("cpu_list: " + cpus.error().message);
  draft.spec.limits.cpu_list = format_cpu_list(*cpus);
  return {};
}

Expected<void> read_after(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* pairs = std::get_if<StringPairs>(&value.storage);
  if (pairs == nullptr) return wrong_type(field, value, "a list of text pairs");
  if (pairs->size() > field.maximum) {
    return refuse("after names " + std::to_string(pairs->size()) + " jobs: allowed are " +
                  std::to_string(field.maximum));
  }
  draft.after = *pairs;
  return {};
}

Expected<void> read_array(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* text = std::get_if<std::string>(&value.storage);
  if (text == nullptr) return wrong_type(field, value, "a text");
  return parse_array_indices(*text).map([&](ArrayIndices array) { draft.spec.array = std::move(array); });
}

constexpr std::uint64_t microseconds_per_second = 1'000'000;
constexpr std::int32_t highest_signal = 64;

Expected<void> read_warn_signal(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* given = std::get_if<SignalAndTime>(&value.storage);
  if (given == nullptr) return wrong_type(field, value, "a signal and time");
  if (given->first < 1 || given->first > highest_signal) {
    return refuse("warn_signal " + std::to_string(given->first) + " does not exist: signals are 1 to 64");
  }
  if (given->second < microseconds_per_second || given->second > field.maximum) {
    return refuse("warn_signal must come a second to a day before the time limit");
  }
  if (!draft.spec.warn_signal) draft.spec.warn_signal.emplace();
  draft.spec.warn_signal->number = given->first;
  draft.spec.warn_signal->before = Microseconds(static_cast<Microseconds::rep>(given->second));
  return {};
}

Expected<void> read_warn_signal_to(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* word = std::get_if<std::string>(&value.storage);
  if (word == nullptr) return wrong_type(field, value, "a text");
  const auto to = warn_signal_to_from(*word);
  if (!to) return refuse("warn_signal_to " + quoted(*word) + " does not exist: write 'main' or 'steps'");
  // Keys come in alphabetical order, the signal itself first.
  if (!draft.spec.warn_signal) return refuse("warn_signal_to is of no use without warn_signal: give that too");
  draft.spec.warn_signal->to = *to;
  return {};
}

constexpr std::uint64_t hour = std::uint64_t{3600} * microseconds_per_second;

Expected<void> read_checkpoint_signal(const Field& field, const Value& value, SpecDraft& draft) {
  const auto* given = std::get_if<SignalAndTime>(&value.storage);
  if (given == nullptr) return wrong_type(field, value, "a signal and time");
  if (given->first < 1 || given->first > highest_signal) {
    return refuse("checkpoint_signal " + std::to_string(given->first) + " does not exist: signals are 1 to 64");
  }
  if (given->first == SIGKILL || given->first == SIGSTOP) {
    return refuse("checkpoint_signal " + signal_name(static_cast<std::uint32_t>(given->first)) +
                  " never reaches a program: name one that it handles, as SIGUSR1");
  }
  if (given->second < microseconds_per_second || given->second > field.maximum) {
    return refuse("checkpoint_signal must leave a grace of a second to an hour");
  }
  draft.spec.checkpoint_signal =
      CheckpointSignal{.number = given->first, .grace = Microseconds(static_cast<Microseconds::rep>(given->second))};
  return {};
}

constexpr std::uint64_t ten_years = std::uint64_t{3652} * 24 * 3600 * microseconds_per_second;
constexpr std::uint64_t day = std::uint64_t{24} * 3600 * microseconds_per_second;
constexpr std::uint64_t year_3000 = 32'503'680'000;  // seconds since the epoch
constexpr auto least_memory = static_cast<std::int64_t>(minimum_memory);
constexpr Bytes largest_size = Bytes{1} << 62;  // what the kernel counts in pages of a signed long

constexpr std::array fields{
    Field{.key = "name", .read = &read_content<&JobSpec::name, &check_name>},
    Field{.key = "class", .read = &read_content<&JobSpec::class_name, &check_class_name>},
    Field{.key = "command", .read = &read_content<&JobSpec::command, &check_command>},
    Field{.key = "workdir", .read = &read_content<&JobSpec::workdir, &check_path>},
    Field{.key = "environment",
          .read = &read_content<&JobSpec::environment, &check_environment>,
          .kinds = Kinds::batch_only},
    Field{.key = "memory",
          .read = &read_limit<&Limits::memory>,
          .minimum = least_memory,
          .maximum = largest_size,
          .unit = Unit::bytes,
          .change = Change::allowed},
    Field{.key = "memory_max",
          .read = &read_limit<&Limits::memory_max>,
          .minimum = least_memory,
          .maximum = unlimited,
          .unit = Unit::bytes,
          .change = Change::allowed},
    Field{.key = "memory_high",
          .read = &read_limit<&Limits::memory_high>,
          .minimum = least_memory,
          .maximum = unlimited,
          .unit = Unit::bytes,
          .change = Change::allowed},
    Field{.key = "swap_max",
          .read = &read_limit<&Limits::swap_max>,
          .maximum = unlimited,
          .unit = Unit::bytes,
          .change = Change::allowed},
    Field{.key = "tasks_max",
          .read = &read_limit<&Limits::tasks_max>,
          .minimum = 1,
          .maximum = unlimited,
          .change = Change::allowed},
    Field{.key = "cpu_weight",
          .read = &read_limit<&Limits::cpu_weight>,
          .minimum = 1,
          .maximum = 10000,
          .change = Change::allowed},
    Field{.key = "io_weight",
          .read = &read_limit<&Limits::io_weight>,
          .minimum = 1,
          .maximum = 10000,
          .change = Change::allowed},
    Field{.key = "cpu_quota_percent",
          .read = &read_limit<&Limits::cpu_quota_percent>,
          .minimum = 1,
          .maximum = std::uint64_t{100} * (maximum_cpu + 1),
          .change = Change::allowed},
    Field{.key = "cpu_list", .read = &read_cpu_list, .change = Change::allowed},
    Field{.key = "oom_score_adjust",
          .read = &read_limit<&Limits::oom_score_adjust>,
          .minimum = -1000,
          .maximum = 1000,
          .kinds = Kinds::batch_only},
    Field{.key = "oom_policy", .read = &read_oom_policy},
    Field{.key = "private_shm",
          .read = &read_limit<&Limits::private_shm>,
          .minimum = least_memory,
          .maximum = largest_size,
          .unit = Unit::bytes,
          .kinds = Kinds::batch_only},
    Field{.key = "cpus", .read = &read_cpus, .maximum = maximum_cpu},
    Field{.key = "after", .read = &read_after, .maximum = maximum_dependencies, .kinds = Kinds::batch_only},
    Field{.key = "array", .read = &read_array, .kinds = Kinds::batch_only},
    Field{.key = "begin",
          .read = &read_begin,
          .maximum = year_3000 * microseconds_per_second,
          .kinds = Kinds::batch_only},
    Field{.key = "warn_signal", .read = &read_warn_signal, .maximum = day, .kinds = Kinds::batch_only},
    Field{.key = "warn_signal_to", .read = &read_warn_signal_to, .kinds = Kinds::batch_only},
    Field{.key = "checkpoint_signal", .read = &read_checkpoint_signal, .maximum = hour, .kinds = Kinds::batch_only},
    Field{.key = "parkable", .read = &read_flag<&JobSpec::parkable>},
    Field{.key = "warmup", .read = &read_time<&JobSpec::warmup>, .maximum = 7 * day, .unit = Unit::time},
    Field{.key = "max_retries", .read = &read_count<&JobSpec::max_retries>, .maximum = 100, .kinds = Kinds::batch_only},
    Field{.key = "retry_memory_percent",
          .read = &read_count<&JobSpec::retry_memory_percent>,
          .minimum = 101,
          .maximum = 1000,
          .kinds = Kinds::batch_only},
    Field{.key = "singleton", .read = &read_flag<&JobSpec::singleton>, .kinds = Kinds::batch_only},
    Field{.key = "key", .read = &read_content<&JobSpec::key, &check_submission_key>, .kinds = Kinds::batch_only},
    Field{.key = "priority", .read = &read_priority, .minimum = -1000, .maximum = 1000, .change = Change::allowed},
    Field{.key = "time_limit",
          .read = &read_time<&JobSpec::time_limit>,
          .minimum = microseconds_per_second,
          .maximum = ten_years,
          .unit = Unit::time,
          .change = Change::allowed},
    Field{.key = "stop_timeout",
          .read = &read_time<&JobSpec::stop_timeout>,
          .maximum = 3600 * microseconds_per_second,
          .unit = Unit::time},
    Field{.key = "hold", .read = &read_flag<&JobSpec::hold>, .kinds = Kinds::batch_only},
    Field{.key = "requeue", .read = &read_flag<&JobSpec::requeue>, .kinds = Kinds::batch_only},
    Field{.key = "output", .read = &read_content<&JobSpec::output, &check_path>, .kinds = Kinds::batch_only},
    Field{.key = "error", .read = &read_content<&JobSpec::error, &check_path>, .kinds = Kinds::batch_only},
    Field{.key = "open_mode", .read = &read_open_mode, .kinds = Kinds::batch_only},
    Field{.key = "comment", .read = &read_content<&JobSpec::comment, &check_comment>},
    Field{.key = "labels", .read = &read_content<&JobSpec::labels, &check_labels>},
};

constexpr std::array<std::string_view, 3> later_keys{"gpus", "gpu_memory", "gpu_share"};

tl::unexpected<Error> unknown_key(std::string_view key, SpecUse use) {
  if (std::find(later_keys.begin(), later_keys.end(), key) != later_keys.end()) {
    return refuse(std::string(key) + " is not supported by this version of mljobd: leave it out");
  }
  std::vector<std::string_view> known;
  for (const auto& field : fields) {
    if (use == SpecUse::submission || field.change == Change::allowed) known.push_back(field.key);
  }
  const auto meant = nearest_word(key, known);
  if (!meant.empty()) return refuse("there is no key " + quoted(key) + ": did you mean '" + std::string(meant) + "'?");
  std::string list;
  for (const auto word : known) list.append(list.empty() ? "" : ", ").append(word);
  return refuse("there is no key " + quoted(key) + ": known are " + list);
}

Expected<void> check_place(const Field& field, SpecUse use, JobKind kind) {
  if (use == SpecUse::limit_change && field.change == Change::never) {
    return refuse(std::string(field.key) + " cannot be changed once a job is submitted: cancel it and submit it anew");
  }
  if (kind != JobKind::batch && field.kinds == Kinds::batch_only) {
    return refuse(std::string(field.key) + " is the caller's own to set for " +
                  (kind == JobKind::foreground ? "a foreground" : "an adopted") + " job: leave it out");
  }
  return {};
}

}  // namespace

Expected<SpecDraft> read_spec_fields(const ValueMap& values, SpecUse use, JobKind kind) {
  SpecDraft draft;
  draft.spec.kind = kind;
  for (const auto& [key, value] : values) {
    const auto* const field = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
    if (field == fields.end()) return unknown_key(key, use);
    if (auto allowed = check_place(*field, use, kind); !allowed) return tl::unexpected(std::move(allowed).error());
    if (auto read = field->read(*field, value, draft); !read) return tl::unexpected(std::move(read).error());
  }
  return draft;
}

}  // namespace mljobd::core
