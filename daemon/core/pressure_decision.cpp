#include "core/pressure_decision.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/format.hpp"
#include "core/whole_microseconds.hpp"

namespace mljobd::core {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

// Of PressureSettings::effect_times, as they are when no test scales them.
constexpr std::array effect_labels{"1s", "5s", "15s"};
static_assert(effect_labels.size() == std::tuple_size_v<decltype(Freed::after)>);

std::string signed_bytes(std::int64_t bytes) {
  return bytes < 0 ? "-" + format_bytes(static_cast<Bytes>(-bytes)) : format_bytes(static_cast<Bytes>(bytes));
}

// "the park of 7 'evaluate' freed 300M after 1s, 810M after 15s"
std::string freed_text(const Freed& freed, const std::string& job) {
  std::string text = "the " + std::string(freed.of) + " of " + job + " freed ";
  bool first = true;
  for (std::size_t i = 0; i < effect_labels.size(); ++i) {
    if (!freed.after[i]) continue;
    text += (std::exchange(first, false) ? "" : ", ") + signed_bytes(*freed.after[i]) + " after " + effect_labels[i];
  }
  return text;
}

std::string percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

void put_freed(ValueMap& values, const Freed& freed) {
  values.emplace("decision", freed.decision);
  values.emplace("of", std::string(freed.of));
  for (std::size_t i = 0; i < effect_labels.size(); ++i) {
    const auto& bytes = freed.after[i];
    if (bytes) values.emplace(std::string("freed_after_") + effect_labels[i], *bytes);
  }
}

void put_action(ValueMap& values, const PressureAction& action) {
  std::visit(Overloaded{
                 [&](const LevelChanged& change) {
                   values.emplace("from", change.from);
                   values.emplace("to", change.to);
                 },
                 [&](const Throttle& throttle) {
                   values.emplace("memory_high", throttle.memory_high);
                   values.emplace("cpu_weight", throttle.cpu_weight);
                   values.emplace("io_weight", throttle.io_weight);
                 },
                 [&](const Unthrottle& undo) { values.emplace("memory_high", undo.memory_high); },
                 [&](const Park& park) { values.emplace("expected", park.expected); },
                 [&](const Unpark& unpark) { values.emplace("size", unpark.size); },
                 [&](const Kill& kill) {
                   values.emplace("expected", kill.expected);
                   if (kill.checkpoint_grace)
                     values.emplace("checkpoint_grace", whole_microseconds(*kill.checkpoint_grace));
                 },
                 [&](const ReleaseHigh& release) { values.emplace("memory_high", release.memory_high); },
                 [&](const Notice& notice) {
                   if (notice.freed != 0) values.emplace("freed", notice.freed);
                 },
                 [&](const Freed& freed) { put_freed(values, freed); },
             },
             action);
}

ValueMap inputs_view(const DecisionInputs& inputs) {
  const PressureSigns& signs = inputs.signs;
  ValueMap view{{"capacity", signs.capacity},
                {"available", signs.available},
                {"machine_available", inputs.machine_available},
                {"throttle_below", inputs.bounds.throttle},
                {"park_below", inputs.bounds.park},
                {"kill_below", inputs.bounds.kill},
                {"swap_total", inputs.swap_total},
                {"swap_free", inputs.swap_free},
                {"job_stalls", signs.job_stalls},
                {"group_stalls", signs.group_stalls}};
  if (inputs.deficit > 0) view.emplace("deficit", inputs.deficit);
  if (inputs.top) view.emplace("top_job", *inputs.top);
  if (signs.slope) view.emplace("slope_per_second", *signs.slope);
  if (signs.exhausted_in) view.emplace("exhausted_in", whole_microseconds(*signs.exhausted_in));
  if (signs.top_full) view.emplace("top_stall_percent", *signs.top_full * 100);
  if (signs.top_speed) view.emplace("top_speed_percent", *signs.top_speed * 100);
  if (signs.top_refaults) view.emplace("top_refaults_per_second", *signs.top_refaults);
  return view;
}

ValueMap candidates_view(const std::vector<Candidate>& candidates) {
  ValueMap view;
  for (const auto& candidate : candidates) {
    view.emplace(std::to_string(candidate.id), ValueMap{{"name", candidate.name},
                                                        {"class", candidate.class_name},
                                                        {"rank", candidate.rank},
                                                        {"size", candidate.size},
                                                        {"verdict", candidate.verdict}});
  }
  return view;
}

std::string available_text(const PressureSigns& signs) {
  return format_bytes(signs.available) + " of " + format_bytes(signs.capacity) + " available";
}

std::string bound_text(const Decision& decision) {
  const LevelBounds& bounds = decision.inputs.bounds;
  const Bytes bound = decision.level >= 3 ? bounds.kill : decision.level == 2 ? bounds.park : bounds.throttle;
  return available_text(decision.inputs.signs) + ", less than " + format_bytes(bound);
}

std::string forecast_text(const PressureSigns& signs) {
  const auto left = signs.exhausted_in ? format_duration(*signs.exhausted_in) : std::string("soon");
  return available_text(signs) + ", at this rate for " + left;
}

std::string reason_text(const Decision& decision) {
  const PressureSigns& signs = decision.inputs.signs;
  switch (decision.rule) {
    case PressureRule::none:
    case PressureRule::room:
      return available_text(signs);
    case PressureRule::available:
      return bound_text(decision);
    case PressureRule::emergency:
      return available_text(signs) + ", less than " + format_bytes(decision.inputs.bounds.emergency);
    case PressureRule::forecast:
      return forecast_text(signs);
    case PressureRule::job_stall:
      return "a job waits for memory, " + available_text(signs);
    case PressureRule::top_stall:
      return "the top job stood still for " + percent(signs.top_full.value_or(0)) + " of the time, " +
             available_text(signs);
    case PressureRule::top_slow:
      return "the top job is at " + percent(signs.top_speed.value_or(0)) + " of its speed, " + available_text(signs);
    case PressureRule::top_refaults:
      return "the top job reads its memory back from swap, " + available_text(signs);
    case PressureRule::group_stall:
      return "a whole job stands still for want of memory, " + available_text(signs);
    case PressureRule::calm:
      return "calm again, " + available_text(signs);
    case PressureRule::park_impossible:
      return "no job can be parked, " + available_text(signs);
    case PressureRule::park_without_effect:
      return "parking moved no more memory, " + available_text(signs);
    case PressureRule::park_done:
      return "its memory is in swap, " + available_text(signs);
    case PressureRule::memory_back:
      return "its memory is free, " + available_text(signs);
    case PressureRule::unkillable:
      return "it is still there after it was killed";
    case PressureRule::grace_cut_short:
      return "memory does not last until its work is saved, " + available_text(signs);
    case PressureRule::nothing_helps:
      return "no other job would help by giving way, " + available_text(signs);
    case PressureRule::top_job_alone:
      return "only the most important job runs, and its own limit has to act, " + available_text(signs);
    case PressureRule::throttle_stuck:
      return "it was stuck at the limit and used no less";
    case PressureRule::own_limit_stuck:
      return "it was stuck at its own memory_high";
    case PressureRule::idle_room:
      return "nothing else runs, " + available_text(signs);
    case PressureRule::parked_too_long:
      return "it was parked for longer than is allowed";
    case PressureRule::no_room:
      return "nothing else runs, and still there is no room for it, " + available_text(signs);
    case PressureRule::mode_changed:
      return "the mode of the pressure policy changed";
  }
  return "";
}

std::string action_text(const Decision& decision) {
  const std::string job = decision.job_name.empty() ? std::to_string(decision.job)
                                                    : std::to_string(decision.job) + " '" + decision.job_name + "'";
  return std::visit(
      Overloaded{
          [](const LevelChanged& change) {
            return "pressure level " + std::to_string(change.from) + " to " + std::to_string(change.to);
          },
          [&](const Throttle& throttle) { return "throttle " + job + " at " + format_bytes(throttle.memory_high); },
          [&](const Unthrottle&) { return "unthrottle " + job; },
          [&](const Park& park) { return "park " + job + " (" + format_bytes(park.expected) + ")"; },
          [&](const Unpark& unpark) { return "unpark " + job + " (" + format_bytes(unpark.size) + ")"; },
          [&](const Kill& kill) {
            return "kill " + job + " (" + format_bytes(kill.expected) + ")" +
                   (kill.checkpoint_grace ? ", with " + format_duration(*kill.checkpoint_grace) + " to save its work"
                                          : std::string());
          },
          [&](const ReleaseHigh&) { return "lift memory_high of " + job; },
          [&](const Notice& notice) {
            std::string text = decision.job == 0 ? "memory pressure" : "job " + job;
            if (notice.freed > 0) text += " gave " + format_bytes(static_cast<Bytes>(notice.freed));
            return text;
          },
          [&](const Freed& freed) { return freed_text(freed, job); },
      },
      decision.action);
}

}  // namespace

std::string_view to_word(const PressureAction& action) {
  constexpr std::string_view words[] = {"level", "throttle",     "unthrottle", "park", "unpark",
                                        "kill",  "release-high", "notice",     "freed"};
  static_assert(std::size(words) == std::variant_size_v<PressureAction>);
  return words[action.index()];
}

ValueMap to_values(const Decision& decision) {
  ValueMap values{{"id", decision.id},
                  {"time", whole_microseconds(decision.when.time_since_epoch())},
                  {"episode", decision.episode},
                  {"level", decision.level},
                  {"rule", std::string(to_word(decision.rule))},
                  {"dry_run", decision.dry_run},
                  {"action", std::string(to_word(decision.action))},
                  {"text", describe(decision)},
                  {"inputs", inputs_view(decision.inputs)}};
  put_action(values, decision.action);
  if (decision.job != 0) {
    values.emplace("job", decision.job);
    values.emplace("job_name", decision.job_name);
  }
  if (!decision.candidates.empty()) values.emplace("candidates", candidates_view(decision.candidates));
  if (decision.candidates_left_out > 0) {
    values.emplace("candidates_left_out", std::uint64_t{decision.candidates_left_out});
  }
  return values;
}

std::string describe(const Decision& decision) {
  return (decision.dry_run ? "would " : "") + action_text(decision) + ": " + reason_text(decision);
}

}  // namespace mljobd::core
