// The daemon's own log. Under systemd a line goes to the journal with its fields, else to standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/types.hpp"

namespace mljobd::log {

// Decides once where lines go; before it is called they go to standard error.
void open();

void info(std::string_view message);
void warning(std::string_view message);
void error(std::string_view message);

// What happened to a job; the journal entry carries MLJOBD_JOB_ID= and MESSAGE_ID= (message_id_job_state).
void job(std::uint32_t id, std::string_view message);

// What the pressure policy decided, with MLJOBD_JOB_ID= (0: of no job), MLJOBD_ACTION= and MESSAGE_ID=
// (message_id_decision).
void decision(std::uint32_t id, std::string_view action, std::string_view message);

// What became known about the memory of a job that grows, with MLJOBD_JOB_ID=, MLJOBD_GROWTH= (the word),
// MLJOBD_BYTES_PER_HOUR=, MLJOBD_TIME_TO_LIMIT_USEC= where it is known, and MESSAGE_ID= (message_id_growth).
struct Growth {
  std::uint32_t job = 0;
  std::string_view word{};
  std::string_view message{};
  std::int64_t bytes_per_hour = 0;
  std::optional<core::Microseconds> time_to_limit{};
  bool urgent = false;  // a warning
};
void growth(const Growth& seen);

inline constexpr std::string_view message_id_job_state = "f3f35a2c0b0f4a2b9d8f7f0f6a2f4c11";
inline constexpr std::string_view message_id_decision = "0b6f2b7d4e8c4d0f9a5c1e7703c2d9ab";
inline constexpr std::string_view message_id_growth = "1af350d36bba4565bcb54b03e12314ea";

}  // namespace mljobd::log
