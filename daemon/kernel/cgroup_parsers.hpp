// The formats of cgroup v2's interface files (Documentation/admin-guide/cgroup-v2.rst). Pure: text in, value out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/death_cause.hpp"
#include "core/limit_check.hpp"
#include "core/types.hpp"

namespace mljobd::kernel {

// "key value\n" lines: memory.events, memory.stat, cpu.stat, cgroup.events. Lines of another form are skipped,
// because newer kernels add some.
using FlatKeyed = std::map<std::string, std::uint64_t, std::less<>>;
[[nodiscard]] FlatKeyed parse_flat_keyed(std::string_view text);
// 0 when the key is missing.
[[nodiscard]] std::uint64_t value_of(const FlatKeyed& values, std::string_view key);

// One of those lines; the key points into the text.
struct KeyedNumber {
  std::string_view key{};
  std::uint64_t value = 0;
};
// Takes lines off `text` up to the next one that is a key and a number; empty when there is none left.
[[nodiscard]] std::optional<KeyedNumber> take_keyed_number(std::string_view& text);

// One number, as in memory.current; surrounding white space is ignored. Empty for anything else.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);

// memory.max, memory.high, memory.swap.max, pids.max: a number, or "max", which is core::unlimited.
[[nodiscard]] std::optional<std::uint64_t> parse_limit(std::string_view text);

// cpu.max, "QUOTA PERIOD" in microseconds, in percent of one CPU, rounded to the nearest;
// core::unlimited_quota for "max PERIOD".
[[nodiscard]] std::optional<std::uint32_t> parse_cpu_max(std::string_view text);

// cpu.weight ("700") and io.weight ("default 300", followed by lines for single devices).
[[nodiscard]] std::optional<std::uint64_t> parse_weight(std::string_view text);

// cpuset.cpus.effective: the list as the kernel writes it, "0-3,8".
[[nodiscard]] std::string parse_cpu_list(std::string_view text);

struct IoTotals {
  core::Bytes read = 0;
  core::Bytes written = 0;
  bool operator==(const IoTotals&) const = default;
};
// io.stat, summed over the devices.
[[nodiscard]] IoTotals parse_io_stat(std::string_view text);

// memory.events and memory.events.local; counters that this kernel does not have are 0.
[[nodiscard]] core::MemoryEvents parse_memory_events(std::string_view text);

// cgroup.procs, of which a cut off last line is ignored; processes of another pid namespace (0) are left out.
[[nodiscard]] std::vector<std::uint32_t> parse_processes(std::string_view text);

}  // namespace mljobd::kernel
