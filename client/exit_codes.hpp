// What jobctl exits with, besides a job's own code and 128+N for a signal. Documented in jobctl(1).
#pragma once

namespace mljobd::client::exit_code {

inline constexpr int success = 0;
inline constexpr int usage = 2;
inline constexpr int invalid_state = 3;
inline constexpr int no_such_job = 4;
inline constexpr int timed_out = 124;
inline constexpr int failed = 125;          // jobctl or the daemon, not the job
inline constexpr int not_executable = 126;  // as a shell says it
inline constexpr int not_found = 127;
inline constexpr int interrupted = 130;
inline constexpr int signal_base = 128;

}  // namespace mljobd::client::exit_code
