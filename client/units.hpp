// What a person typed for an option, as the value that the specification takes. The rules themselves are core's; this
// adds which option the sentence is about.
#pragma once

#include <string>
#include <string_view>

#include "client/failure.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::client {

enum class OptionKind {
  text,
  path,            // made absolute against the working directory
  bytes,           // "12G", "50%" of the machine's memory, "unlimited"
  duration,        // microseconds, uint64
  count,           // uint64, or "unlimited"
  quota,           // "150%", uint32
  number,          // int32
  negated_number,  // of the opposite sign: Slurm's --nice lowers
  cpu_list,
  cores,         // 1..8192, uint32
  small_number,  // 0..100, uint32
  moment,        // of the wall clock: microseconds, uint64
  array,         // of indices, checked here and kept as text
  dependencies,  // pairs of kind and job
  open_mode,     // "append" or "truncate"
  growth,        // "1.5x" or "150%" of the present one, 101..1000 percent, uint32
  warning,       // a signal and how long before the time limit
  checkpoint,    // a signal, with the usual grace
};

struct Surroundings {
  std::string workdir{};         // absolute
  core::Bytes total_memory = 0;  // of the machine
  core::RealTime now{};
};

// `option` names what was typed ("--mem", "-p MemoryMax=").
[[nodiscard]] Outcome<core::Value> parse_value(OptionKind kind, std::string_view option, const std::string& text,
                                               const Surroundings& surroundings);

// D-Bus carries nothing else in a string.
[[nodiscard]] bool is_utf8(std::string_view text);

// The absolute form of a path, against an absolute workdir.
[[nodiscard]] std::string absolute_path(const std::string& path, const std::string& workdir);

[[nodiscard]] Surroundings surroundings();

}  // namespace mljobd::client
