// Small pieces of text that tables and pages share. Pure; local time comes from TZ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/job_row.hpp"
#include "client/terminal.hpp"
#include "core/value.hpp"

namespace mljobd::client {

// "2026-11-30 14:47:18" of µs since the epoch; "-" for 0.
[[nodiscard]] std::string format_time(std::uint64_t microseconds);

// A value of Limits or Effective in the unit of its key: bytes, durations, "150%", "unlimited".
[[nodiscard]] std::string format_limit(std::string_view key, const core::Value& value);

// "finished: oom (own-limit)", "queued: Resources:memory (needs 12.0G, 3.0G free)".
[[nodiscard]] std::string describe_state(const JobRow& row);

[[nodiscard]] Colour state_colour(const JobRow& row);

// Control characters, of names that others chose, made harmless for a terminal; line breaks become blanks.
[[nodiscard]] std::string harmless(std::string_view text);

}  // namespace mljobd::client
