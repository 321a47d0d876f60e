#include "client/job_row.hpp"

#include <array>
#include <csignal>

#include "client/exit_codes.hpp"
#include "client/values.hpp"

namespace mljobd::client {
namespace {

struct ShortWord {
  std::string_view word;
  std::string_view letters;
};

constexpr std::array states{
    ShortWord{"queued", "PD"}, ShortWord{"held", "H"},   ShortWord{"starting", "CF"}, ShortWord{"running", "R"},
    ShortWord{"frozen", "S"},  ShortWord{"parked", "S"}, ShortWord{"stopping", "CG"},
};
constexpr std::array results{
    ShortWord{"done", "CD"},      ShortWord{"failed", "F"},      ShortWord{"signalled", "F"},
    ShortWord{"cancelled", "CA"}, ShortWord{"timeout", "TO"},    ShortWord{"oom", "OOM"},
    ShortWord{"preempted", "PR"}, ShortWord{"dependency", "DP"}, ShortWord{"start-failed", "SF"},
    ShortWord{"lost", "LO"},
};

}  // namespace

JobRow job_row_from(const core::ValueMap& row) {
  return {
      .id = value_or<std::uint32_t>(row, "id", 0),
      .name = text_or_empty(row, "name"),
      .class_name = text_or_empty(row, "class"),
      .kind = text_or_empty(row, "kind"),
      .owner = value_or<std::uint32_t>(row, "owner", 0),
      .owner_name = text_or_empty(row, "owner_name"),
      .state = text_or_empty(row, "state"),
      .reason = text_or_empty(row, "reason"),
      .attempt = value_or<std::uint32_t>(row, "attempt", 0),
      .unit = text_or_empty(row, "unit"),
      .slice = text_or_empty(row, "slice"),
      .submit_time = value_or<std::uint64_t>(row, "submit_time", 0),
      .start_time = value_or<std::uint64_t>(row, "start_time", 0),
      .end_time = value_or<std::uint64_t>(row, "end_time", 0),
      .frozen_since = value_or<std::uint64_t>(row, "frozen_since", 0),
      .run_time = core::Microseconds(value_or<std::int64_t>(row, "run_time", 0)),
      .exit_code = value_or<std::int32_t>(row, "exit_code", -1),
      .exit_signal = value_or<std::uint32_t>(row, "exit_signal", 0),
      .result = text_or_empty(row, "result"),
      .cause = map_or_empty(row, "cause"),
      .limits = map_or_empty(row, "limits"),
      .usage = map_or_empty(row, "usage"),
      .priority = value_or<std::int32_t>(row, "priority", 0),
      .warnings = texts_or_empty(row, "warnings"),
      .forecast = map_or_empty(row, "forecast"),
      .array_id = value_or<std::uint32_t>(row, "array_id", 0),
      .array_index = value_or<std::uint32_t>(row, "array_index", 0),
      .array_count = value_or<std::uint32_t>(row, "array_count", 0),
  };
}

std::string label_of(const JobRow& row) {
  if (row.array_id == 0) return std::to_string(row.id);
  return std::to_string(row.array_id) + "_" + std::to_string(row.array_index);
}

bool was_started(const JobRow& row) {
  return row.start_time != 0 || row.state == "running" || row.state == "frozen" || row.state == "parked" ||
         row.state == "stopping";
}

std::string_view short_state(const JobRow& row) {
  if (is_finished(row)) {
    for (const auto& [word, letters] : results) {
      if (word == row.result) return letters;
    }
  }
  for (const auto& [word, letters] : states) {
    if (word == row.state) return letters;
  }
  return "?";
}

int exit_code_of(const JobRow& row) {
  if (row.result == "done") return exit_code::success;
  // The code that PID 1 gives for a program it could not execute (203 and its like) is not the program's.
  if (row.result == "start-failed") return exit_code::not_executable;
  if (row.exit_signal != 0) return exit_code::signal_base + static_cast<int>(row.exit_signal);
  if (row.exit_code > 0) return row.exit_code;
  if (row.result == "cancelled" || row.result == "timeout") return exit_code::signal_base + SIGTERM;
  if (row.result == "oom" || row.result == "preempted") return exit_code::signal_base + SIGKILL;
  return exit_code::failed;
}

}  // namespace mljobd::client
