#include "client/render_status.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "client/render_text.hpp"
#include "client/terminal.hpp"
#include "client/values.hpp"
#include "core/forecast.hpp"
#include "core/format.hpp"

namespace mljobd::client {
namespace {

constexpr std::size_t label_width = 10;

void line(std::string& page, std::string_view label, std::string_view text) {
  page.append(label.size() < label_width ? label_width - label.size() : 0, ' ');
  page.append(label).append(label.empty() ? "  " : ": ").append(text).push_back('\n');
}

std::string size_of(const core::ValueMap& map, std::string_view key) {
  return core::format_bytes(value_or<std::uint64_t>(map, key, 0));
}

// "parked since 2026-11-30 14:47:18: 12M of 1.8G available, less than 92M; its 812M are in swap"
std::string state_text(const JobRow& row, const core::ValueMap& usage) {
  if (row.frozen_since == 0) return describe_state(row);
  std::string text = row.state + " since " + format_time(row.frozen_since);
  if (!row.reason.empty()) text += ": " + harmless(row.reason);
  const auto swapped = value_or<std::uint64_t>(usage, "swap_current", 0);
  if (row.state == "parked" && swapped > 0) text += "; its " + core::format_bytes(swapped) + " are in swap";
  return text;
}

void add_cause(std::string& page, const JobRow& row, bool colour) {
  const std::string advice = text_or_empty(row.cause, "advice");
  if (!advice.empty()) line(page, "Cause", paint(harmless(advice), Colour::bold, colour));
  const std::string by = text_or_empty(row.cause, "by");
  if (advice.empty() && !by.empty()) line(page, "By", harmless(by));
  const auto victim = find_value<core::NumberAndName>(row.cause, "victim");
  if (advice.empty() && victim) {
    line(page, "Killed", harmless(victim->second) + " (pid " + std::to_string(victim->first) + ")");
  }
}

void add_times(std::string& page, const JobRow& row) {
  line(page, "Submitted", format_time(row.submit_time));
  if (row.start_time != 0) line(page, "Started", format_time(row.start_time));
  if (row.end_time != 0) line(page, "Ended", format_time(row.end_time));
  if (was_started(row)) line(page, "Ran", core::format_duration(row.run_time) + " (frozen time not counted)");
}

// "for memory 3m20s (all of it 12s), for data 4s, for a CPU 1h05m"; empty where it never waited.
std::string waited_text(const core::ValueMap& usage) {
  const auto time = [&](std::string_view key) { return core::Microseconds(value_or<std::int64_t>(usage, key, 0)); };
  std::string text;
  const auto add = [&](std::string_view what, std::string_view some, std::string_view full) {
    // What the kernel counts in passing is no waiting.
    constexpr core::Microseconds noticeable = std::chrono::milliseconds(1);
    if (time(some) < noticeable) return;
    text.append(text.empty() ? "" : ", ").append(what).append(" ").append(core::format_duration(time(some)));
    if (time(full) >= noticeable) text.append(" (all of it ").append(core::format_duration(time(full))).append(")");
  };
  add("for memory", "memory_waiting", "memory_stalled");
  add("for data", "io_waiting", "io_stalled");
  add("for a CPU", "cpu_waiting", "");
  return text;
}

void add_usage(std::string& page, const JobRow& row, const core::ValueMap& usage) {
  if (!was_started(row) || usage.empty()) return;
  if (is_finished(row)) {
    line(page, "Memory", size_of(usage, "memory_peak") + " at the peak");
  } else {
    line(page, "Memory", size_of(usage, "memory_current") + ", peak " + size_of(usage, "memory_peak"));
  }
  line(page, "",
       "programs " + size_of(usage, "memory_anon") + ", files " + size_of(usage, "memory_file") +
           " of which shared memory " + size_of(usage, "memory_shmem") + ", swap " + size_of(usage, "swap_current"));
  line(page, "CPU time", core::format_duration(core::Microseconds(value_or<std::int64_t>(usage, "cpu_time", 0))));
  line(page, "I/O", size_of(usage, "io_read") + " read, " + size_of(usage, "io_written") + " written");
  if (const auto waited = waited_text(usage); !waited.empty()) line(page, "Waited", waited);
  if (!is_finished(row)) line(page, "Tasks", std::to_string(value_or<std::uint64_t>(usage, "tasks", 0)));
}

// Only where it grows: that it does not is what everybody expects.
void add_growth(std::string& page, const JobRow& row, bool colour) {
  const auto forecast = core::forecast_from(row.forecast);
  const auto text = core::describe(forecast);
  if (text.empty()) return;
  using Severity = core::Forecast::Severity;
  const Colour shade = forecast.severity == Severity::none      ? Colour::none
                       : forecast.severity == Severity::warning ? Colour::yellow
                                                                : Colour::red;
  line(page, "Growth", paint(text, shade, colour));
}

std::string limit_text(const core::ValueMap& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? "-" : format_limit(key, found->second);
}

constexpr std::string_view learned = "memory_learned";

std::string asked_text(const core::ValueMap& limits, std::string_view key) {
  if (key != "memory" || limits.contains("memory") || !limits.contains(learned)) return limit_text(limits, key);
  return limit_text(limits, learned) + " (learned)";
}

void add_limits(std::string& page, const JobRow& row, const core::ValueMap& effective) {
  std::set<std::string, std::less<>> keys;
  for (const auto& [key, value] : row.limits) keys.insert(key == learned ? "memory" : key);
  for (const auto& [key, value] : effective) keys.insert(key);
  keys.erase("priority");
  if (keys.empty()) return;
  line(page, "Limits", effective.empty() ? "asked" : "asked         in force");
  for (const auto& key : keys) {
    std::string text = key;
    text.resize(std::max<std::size_t>(text.size() + 1, 20), ' ');
    std::string asked = asked_text(row.limits, key);
    if (!effective.empty()) asked.resize(std::max<std::size_t>(asked.size() + 1, 14), ' ');
    const std::string in_force = effective.empty() || !effective.contains(key) ? "" : limit_text(effective, key);
    page.append("  ").append(text).append(asked).append(in_force);
    page.erase(page.find_last_not_of(' ') + 1);
    page.push_back('\n');
  }
}

void add_progress(std::string& page, const core::ValueMap& properties) {
  const auto progress = value_or<double>(properties, "Progress", -1.0);
  if (progress < 0) return;
  const std::string message = text_or_empty(properties, "ProgressMessage");
  line(page, "Progress",
       std::to_string(std::lround(progress * 100)) + "%" + (message.empty() ? "" : ", " + harmless(message)));
}

void add_warnings(std::string& page, const JobRow& row, bool colour) {
  for (const auto& warning : row.warnings) line(page, "Warning", paint(harmless(warning), Colour::yellow, colour));
}

void add_log(std::string& page, const JobRow& row, const std::string& tail) {
  if (tail.empty()) return;
  page.append("\nLast output (jobctl logs ").append(label_of(row)).append("):\n");
  // A progress bar redraws its line: what stood before the last carriage return was overwritten on the terminal too.
  std::string_view rest = tail;
  while (!rest.empty()) {
    auto text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    while (text.ends_with('\r')) text.remove_suffix(1);
    if (const auto redrawn = text.rfind('\r'); redrawn != std::string_view::npos) text.remove_prefix(redrawn + 1);
    page.append("  ").append(harmless(text)).push_back('\n');
  }
}

std::string cores_text(const core::ValueMap& resources) {
  const auto number = [&](std::string_view key) { return std::to_string(value_or<std::uint64_t>(resources, key, 0)); };
  std::string text = number("cores") + " in the machine (" + number("logical_cpus") + " logical CPUs), " +
                     number("cores_for_jobs") + " to reserve: " + number("cores_reserved") + " reserved, " +
                     number("cores_free") + " free";
  const auto shared = text_or_empty(resources, "shared_cpus");
  return shared.empty() ? text : text + "; all others share the CPUs " + harmless(shared);
}

std::string pressure_text(std::uint32_t level) {
  switch (level) {
    case 0:
      return "none";
    case 1:
      return "level 1: the least important jobs are slowed down, and nothing new starts";
    case 2:
      return "level 2: the least important jobs are parked in swap";
    default:
      return "level " + std::to_string(level) + ": the least important jobs are ended";
  }
}

void add_pressure(std::string& page, const core::ValueMap& properties, bool colour) {
  // An older daemon does not have it.
  const auto level = find_value<std::uint32_t>(properties, "PressureLevel");
  if (!level) return;
  const Colour shade = *level == 0 ? Colour::none : *level < 3 ? Colour::yellow : Colour::red;
  line(page, "Pressure", paint(pressure_text(*level), shade, colour));
}

std::string heading(const JobRow& row) {
  std::string text = "Job " + label_of(row) + " " + harmless(row.name) + " (" + row.class_name;
  text += ", of " + (row.owner_name.empty() ? std::to_string(row.owner) : harmless(row.owner_name));
  if (row.kind != "batch" && !row.kind.empty()) text += ", " + row.kind;
  if (row.array_id != 0) text += ", job " + std::to_string(row.id) + ", one of " + std::to_string(row.array_count);
  return text + ")";
}

}  // namespace

std::string render_status(const StatusPage& page, bool colour) {
  const auto& row = page.row;
  std::string text = paint(heading(row), Colour::bold, colour) + "\n";
  auto usage = map_or_empty(page.properties, "Usage");
  if (usage.empty()) usage = row.usage;
  line(text, "State", paint(state_text(row, usage), state_colour(row), colour));
  add_cause(text, row, colour);
  add_warnings(text, row, colour);
  add_progress(text, page.properties);
  add_times(text, row);
  if (row.attempt > 1) line(text, "Attempt", std::to_string(row.attempt));
  if (row.priority != 0) line(text, "Priority", std::to_string(row.priority));
  add_usage(text, row, usage);
  add_growth(text, row, colour);
  if (!row.unit.empty()) line(text, "Unit", row.unit + (row.slice.empty() ? "" : " in " + row.slice));
  add_limits(text, row, map_or_empty(page.properties, "Effective"));
  add_log(text, row, page.log_tail);
  return text;
}

std::string render_machine(const core::ValueMap& properties, const core::ValueMap& resources,
                           const std::vector<core::ValueMap>& classes, bool colour) {
  std::string text = paint("mljobd " + text_or_empty(properties, "Version"), Colour::bold, colour) + " (" +
                     text_or_empty(properties, "Mode") + ")\n";
  const std::string state = text_or_empty(properties, "State");
  line(text, "State", paint(state, state == "running" ? Colour::green : Colour::yellow, colour));
  for (const auto& problem : texts_or_empty(properties, "Problems")) {
    line(text, "Problem", paint(harmless(problem), Colour::red, colour));
  }
  const auto memory = map_or_empty(properties, "Memory");
  line(text, "Memory",
       size_of(memory, "total_memory") + " in the machine, " + size_of(memory, "jobs_memory_max") + " for jobs: " +
           size_of(memory, "reserved_memory") + " reserved, " + size_of(memory, "free_memory") + " free");
  add_pressure(text, properties, colour);
  if (!resources.empty()) line(text, "Cores", cores_text(resources));
  line(text, "Jobs",
       std::to_string(value_or<std::uint64_t>(properties, "Running", 0)) + " running, " +
           std::to_string(value_or<std::uint64_t>(properties, "Queued", 0)) + " queued, " +
           std::to_string(value_or<std::uint64_t>(properties, "Finished", 0)) + " finished");
  for (const auto& row : classes) {
    const auto bound = value_or<std::uint64_t>(row, "max_running", 0);
    line(text, text_or_empty(row, "name"),
         std::to_string(value_or<std::uint64_t>(row, "running", 0)) + " running, " +
             std::to_string(value_or<std::uint64_t>(row, "queued", 0)) + " queued" +
             (bound == 0 ? "" : ", at most " + std::to_string(bound) + " at once") + ", CPU weight " +
             std::to_string(value_or<std::uint64_t>(row, "cpu_weight", 0)));
  }
  return text;
}

}  // namespace mljobd::client
