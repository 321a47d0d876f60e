// When a job may start at the earliest: --begin, in the forms of sbatch(1).
#pragma once

#include <string_view>

#include "core/types.hpp"

namespace mljobd::client {

// "now+2hours" (seconds, minutes, hours, days, weeks; a bare number is seconds), "16:00", "4:30pm", "22:00:30",
// "midnight", "noon", "teatime", "today", "tomorrow", "2026-12-24", "12/24", "12/24/26", "122426", and a date with a
// time: "2026-12-24T16:00", "tomorrow 16:00". A time alone is the next one, a date alone begins at midnight; all of it
// is local time. What has passed is allowed: the job may start at once.
// Errors: invalid_spec, naming the forms.
[[nodiscard]] core::Expected<core::RealTime> parse_begin_time(std::string_view text, core::RealTime now);

}  // namespace mljobd::client
