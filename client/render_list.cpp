#include "client/render_list.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "client/render_text.hpp"
#include "client/values.hpp"
#include "core/forecast.hpp"
#include "core/format.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

struct Field {
  std::string_view title;
  std::string_view keys;  // of a row, that the text is made from; all know the state
  bool right;
  bool cut;
  std::string (*text)(const JobRow&);
};

std::string bytes_or_dash(const core::ValueMap& map, std::string_view key) {
  const auto bytes = find_value<std::uint64_t>(map, key);
  return bytes ? core::format_bytes(*bytes) : "-";
}

std::string memory_of(const JobRow& row) {
  if (!was_started(row)) return "-";
  return bytes_or_dash(row.usage, is_finished(row) ? "memory_peak" : "memory_current");
}

std::string cpu_of(const JobRow& row) {
  const auto time = find_value<std::int64_t>(row.usage, "cpu_time");
  return time && was_started(row) ? core::format_duration(core::Microseconds(*time)) : "-";
}

// How certain the time is, is told where one job is shown in full.
std::string growth_of(const JobRow& row) {
  auto forecast = core::forecast_from(row.forecast);
  forecast.earliest.reset();
  forecast.latest.reset();
  const auto text = core::describe(forecast);
  return text.empty() ? "-" : text;
}

// One that runs waits for nothing: what there is to say of it is where its memory goes.
std::string reason_of(const JobRow& row) {
  if (is_finished(row) && row.reason.empty()) return describe_state(row);
  return row.reason.empty() ? growth_of(row) : harmless(row.reason);
}

std::string limit_or_dash(const JobRow& row, std::string_view key) {
  const auto found = row.limits.find(key);
  return found == row.limits.end() ? "-" : format_limit(key, found->second);
}

std::string text_or_dash(const std::string& text) { return text.empty() ? "-" : harmless(text); }

std::string run_time_of(const JobRow& row) { return was_started(row) ? core::format_duration(row.run_time) : "-"; }

std::string owner_of(const JobRow& row) {
  return row.owner_name.empty() ? std::to_string(row.owner) : harmless(row.owner_name);
}

constexpr std::array fields_known{
    Field{"ID", "array_id,array_index", true, false, label_of},
    Field{"NAME", "name", false, true, [](const JobRow& row) { return text_or_dash(row.name); }},
    Field{"CLASS", "class", false, false, [](const JobRow& row) { return text_or_dash(row.class_name); }},
    Field{"USER", "owner,owner_name", false, false, owner_of},
    Field{"ST", "", false, false, [](const JobRow& row) { return std::string(short_state(row)); }},
    Field{"TIME", "start_time,run_time", true, false, run_time_of},
    Field{"MEM", "start_time,usage", true, false, memory_of},
    Field{"CPU", "start_time,usage", true, false, cpu_of},
    // No job has a GPU assigned by this version; the column keeps its place for scripts.
    Field{"GPU", "", false, false, [](const JobRow& /*row*/) { return std::string("-"); }},
    Field{"REASON", "reason,exit_code,exit_signal,cause,forecast", false, true, reason_of},
    Field{"STATE", "", false, false, [](const JobRow& row) { return row.state; }},
    Field{"RESULT", "", false, false, [](const JobRow& row) { return text_or_dash(row.result); }},
    Field{"EXIT", "exit_code,exit_signal", true, false,
          [](const JobRow& row) { return is_finished(row) ? std::to_string(exit_code_of(row)) : "-"; }},
    Field{"KIND", "kind", false, false, [](const JobRow& row) { return text_or_dash(row.kind); }},
    Field{"ATTEMPT", "attempt", true, false, [](const JobRow& row) { return std::to_string(row.attempt); }},
    Field{"PRIORITY", "priority", true, false, [](const JobRow& row) { return std::to_string(row.priority); }},
    Field{"PEAK", "usage", true, false, [](const JobRow& row) { return bytes_or_dash(row.usage, "memory_peak"); }},
    Field{"LIMIT", "limits", true, false,
          [](const JobRow& row) {
            return limit_or_dash(row, row.limits.contains("memory_max") ? "memory_max" : "memory");
          }},
    Field{"GROWTH", "forecast", false, true, growth_of},
    Field{"TIMELIMIT", "limits", true, false, [](const JobRow& row) { return limit_or_dash(row, "time_limit"); }},
    Field{"SUBMITTED", "submit_time", false, false, [](const JobRow& row) { return format_time(row.submit_time); }},
    Field{"STARTED", "start_time", false, false, [](const JobRow& row) { return format_time(row.start_time); }},
    Field{"ENDED", "end_time", false, false, [](const JobRow& row) { return format_time(row.end_time); }},
    Field{"UNIT", "unit", false, false, [](const JobRow& row) { return text_or_dash(row.unit); }},
    Field{"SLICE", "slice", false, false, [](const JobRow& row) { return text_or_dash(row.slice); }},
};

Outcome<std::vector<const Field*>> chosen_fields(std::string_view list) {
  std::vector<const Field*> chosen;
  std::string upper(list);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string_view rest = upper;
  while (!rest.empty()) {
    const auto title = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(title.size() + 1, rest.size()));
    const auto* field = std::find_if(fields_known.begin(), fields_known.end(),
                                     [&](const Field& entry) { return entry.title == title; });
    if (field == fields_known.end()) {
      std::string message = "-o: there is no field \"" + std::string(title) + "\"; there are";
      for (const auto& entry : fields_known) message.append(" ").append(entry.title);
      return usage_failure(std::move(message));
    }
    chosen.push_back(field);
  }
  if (chosen.empty()) return usage_failure("-o: name at least one field");
  return chosen;
}

}  // namespace

Outcome<std::vector<std::string>> row_keys(std::string_view fields) {
  const auto chosen = chosen_fields(fields);
  if (!chosen) return tl::unexpected(chosen.error());
  // Which job it is, and what the colours and most columns ask for.
  std::set<std::string> keys{"id", "state", "result"};
  for (const auto* field : *chosen) {
    for (const auto key : core::split(field->keys, ',')) {
      if (!key.empty()) keys.emplace(key);
    }
  }
  return std::vector<std::string>(keys.begin(), keys.end());
}

Outcome<std::string> render_jobs(const std::vector<JobRow>& rows, std::string_view fields, const TableStyle& style) {
  const auto chosen = chosen_fields(fields);
  if (!chosen) return tl::unexpected(chosen.error());
  std::vector<TableColumn> columns;
  for (const auto* field : *chosen) {
    columns.push_back({.title = std::string(field->title), .right = field->right, .cut = field->cut});
  }
  std::vector<std::vector<TableCell>> cells;
  for (const auto& row : rows) {
    auto& line = cells.emplace_back();
    for (const auto* field : *chosen) {
      const bool shows_state = field->title == "ST" || field->title == "STATE" || field->title == "RESULT";
      line.push_back({.text = field->text(row), .colour = shows_state ? state_colour(row) : Colour::none});
    }
  }
  return render_table(columns, cells, style);
}

Outcome<std::string> render_array(const std::vector<JobRow>& jobs, const TableStyle& style) {
  std::map<std::string_view, std::size_t> states;
  for (const auto& job : jobs) ++states[is_finished(job) ? job.result : job.state];
  std::string counts;
  for (const auto& [state, count] : states) {
    counts.append(counts.empty() ? "" : ", ").append(std::to_string(count)).append(" ").append(state);
  }
  const auto& first = jobs.front();
  const std::string heading = "Array " + std::to_string(first.array_id) + " " + harmless(first.name) + " (" +
                              first.class_name + ", of " + owner_of(first) + "), " + std::to_string(jobs.size()) +
                              " jobs: " + counts + "\n\n";
  return render_jobs(jobs, "ID,ST,EXIT,ATTEMPT,TIME,PEAK,REASON", style).map([&](const std::string& table) {
    return heading + table + "\n`jobctl status " + label_of(first) + "` shows one of them in full.\n";
  });
}

Outcome<std::string> render_classes(const std::vector<core::ValueMap>& classes, const TableStyle& style) {
  const std::vector<TableColumn> columns{{"CLASS"},         {"RANK", true},   {"CPU", true}, {"IO", true},
                                         {"OOM", true},     {"MAXRUN", true}, {"MEM", true}, {"MAXMEM", true},
                                         {"RUNNING", true}, {"QUEUED", true}, {"DEFAULT"}};
  const auto number = [](const core::ValueMap& row, std::string_view key) -> TableCell {
    return {.text = std::to_string(value_or<std::int64_t>(row, key, 0))};
  };
  const auto number_or_dash = [&](const core::ValueMap& row, std::string_view key) -> TableCell {
    return value_or<std::int64_t>(row, key, 0) == 0 ? TableCell{.text = "-"} : number(row, key);
  };
  const auto size = [](const core::ValueMap& row, std::string_view key) -> TableCell {
    const auto bytes = value_or<std::uint64_t>(row, key, 0);
    return {.text = bytes == 0 ? "-" : core::format_bytes(bytes)};
  };
  std::vector<std::vector<TableCell>> cells;
  for (const auto& row : classes) {
    cells.push_back({{harmless(text_or_empty(row, "name"))},
                     number(row, "rank"),
                     number(row, "cpu_weight"),
                     number(row, "io_weight"),
                     number(row, "oom_score_adjust"),
                     number_or_dash(row, "max_running"),
                     size(row, "default_memory"),
                     size(row, "maximum_memory"),
                     number(row, "running"),
                     number(row, "queued"),
                     {value_or<bool>(row, "default", false) ? "yes" : ""}});
  }
  return render_table(columns, cells, style);
}

std::string render_event(const core::ValueMap& event) {
  std::string line = format_time(value_or<std::uint64_t>(event, "time", 0));
  const auto job = value_or<std::uint32_t>(event, "job", 0);
  line += job == 0 ? "  mljobd" : "  job " + std::to_string(job);
  const std::string old_state = text_or_empty(event, "old");
  const std::string new_state = text_or_empty(event, "new");
  const std::string message = text_or_empty(event, "message");
  // What the pressure policy decided, or is to be expected, is a sentence, whose short form is the reason, and changes
  // no state by itself.
  const std::string kind = text_or_empty(event, "kind");
  const bool is_sentence = kind == "decision" || kind == "forecast" || kind == "checkpoint";
  const bool complete = is_sentence && old_state == new_state && !message.empty();
  if (complete) return line + "  " + harmless(message) + "\n";
  if (!new_state.empty()) line += "  " + (old_state.empty() ? "" : harmless(old_state) + " -> ") + harmless(new_state);
  for (const auto& text : {text_or_empty(event, "reason"), message}) {
    if (!text.empty()) line += "  " + harmless(text);
  }
  return line + "\n";
}

}  // namespace mljobd::client
