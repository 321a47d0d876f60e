// Vocabulary shared by every part of the daemon. Nothing here does I/O or reads a clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace mljobd::core {

using JobId = std::uint32_t;   // 0 is never a job
using UserId = std::uint32_t;  // as the kernel counts them
using Bytes = std::uint64_t;

// systemd and the kernel write this one as "infinity" or "max".
inline constexpr Bytes unlimited = std::numeric_limits<std::uint64_t>::max();

using Microseconds = std::chrono::microseconds;
// Wall clock, for people and for what must survive a reboot.
using RealTime = std::chrono::time_point<std::chrono::system_clock, Microseconds>;

// CLOCK_BOOTTIME: durations are measured on it, because a clock that is set by hand or by NTP must
// neither shorten nor lengthen a time limit. Comparable only within one boot.
struct BootClock {
  using duration = Microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock, duration>;
  static constexpr bool is_steady = true;
};
using BootTime = BootClock::time_point;

// The moment an event is handled at; every decision takes it as an argument.
struct Now {
  RealTime real{};
  BootTime boot{};
};

// One per error name of the D-Bus contract (org.mljobd1.Error.*).
enum class ErrorCode {
  no_such_job,
  not_authorized,
  invalid_spec,
  invalid_state,
  no_capacity,
  limit_exceeded,
  gpu_unavailable,
  service_manager,
  storage,
  invalid_config,
};

// The message is one sentence that the person who caused it can act on.
struct Error {
  ErrorCode code = ErrorCode::invalid_spec;
  std::string message{};

  bool operator==(const Error&) const = default;
};

template <class T>
using Expected = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> failure(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace mljobd::core
