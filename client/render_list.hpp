// The table of `jobctl list`, and those of classes and events. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/job_row.hpp"
#include "client/table.hpp"
#include "core/value.hpp"

namespace mljobd::client {

inline constexpr std::string_view default_fields = "ID,NAME,CLASS,USER,ST,TIME,MEM,CPU,GPU,REASON";

// What the columns are made from, as ListJobs has it in its `fields`. Errors: as for render_jobs.
[[nodiscard]] Outcome<std::vector<std::string>> row_keys(std::string_view fields);

// fields: comma-separated titles, in either case. Errors: usage, naming all there are.
[[nodiscard]] Outcome<std::string> render_jobs(const std::vector<JobRow>& rows, std::string_view fields,
                                               const TableStyle& style);

// An array as one: how many of its jobs are in which state, and a line for each. There is at least one.
[[nodiscard]] Outcome<std::string> render_array(const std::vector<JobRow>& jobs, const TableStyle& style);

[[nodiscard]] Outcome<std::string> render_classes(const std::vector<core::ValueMap>& classes, const TableStyle& style);

// One line: "2026-11-30 14:47:18  job 42  running -> finished  oom own-limit".
[[nodiscard]] std::string render_event(const core::ValueMap& event);

}  // namespace mljobd::client
