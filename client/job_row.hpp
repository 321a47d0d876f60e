// A job as ListJobs gives it, and what follows from it for people and for shells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::client {

struct JobRow {
  core::JobId id = 0;
  std::string name{};
  std::string class_name{};
  std::string kind{};
  core::UserId owner = 0;
  std::string owner_name{};
  std::string state{};
  std::string reason{};
  std::uint32_t attempt = 0;
  std::string unit{};
  std::string slice{};
  std::uint64_t submit_time = 0;  // µs since the epoch; 0 = not yet
  std::uint64_t start_time = 0;
  std::uint64_t end_time = 0;
  std::uint64_t frozen_since = 0;  // 0: it is neither frozen nor parked
  core::Microseconds run_time{0};
  std::int32_t exit_code = -1;  // -1 = none
  std::uint32_t exit_signal = 0;
  std::string result{};
  core::ValueMap cause{};
  core::ValueMap limits{};
  core::ValueMap usage{};
  std::int32_t priority = 0;
  std::vector<std::string> warnings{};
  core::ValueMap forecast{};  // of its memory, while it runs
  core::JobId array_id = 0;   // the id of the array's first job; 0: in no array
  std::uint32_t array_index = 0;
  std::uint32_t array_count = 0;
};

[[nodiscard]] JobRow job_row_from(const core::ValueMap& row);

[[nodiscard]] inline bool is_finished(const JobRow& row) { return row.state == "finished"; }
// What a person types for it: "42", or "40_2" in an array.
[[nodiscard]] std::string label_of(const JobRow& row);
// It has processes, or had: its log exists.
[[nodiscard]] bool was_started(const JobRow& row);

// The two letters of a table, as Slurm has them: PD, H, CF, R, S, CG; CD, F, CA, TO, OOM, PR, DP, SF, LO.
[[nodiscard]] std::string_view short_state(const JobRow& row);

// What a shell is told of a finished job: its own code, 128+N for a signal. Of a job that did not end well it is never
// 0, even if the program turned the signal that stopped it into an exit(0): 143 (128+SIGTERM) for cancelled and
// timeout, 137 for oom and preempted, 126 for one that could not be started, 125 where nobody knows.
[[nodiscard]] int exit_code_of(const JobRow& row);

}  // namespace mljobd::client
