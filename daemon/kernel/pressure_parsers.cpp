#include "kernel/pressure_parsers.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "kernel/cgroup_parsers.hpp"
#include "kernel/text.hpp"

namespace mljobd::kernel {
namespace {

constexpr std::uint64_t most_microseconds = std::numeric_limits<core::Microseconds::rep>::max();

core::Microseconds to_microseconds(std::uint64_t count) {
  return core::Microseconds(static_cast<core::Microseconds::rep>(std::min(count, most_microseconds)));
}

// The total of a line "avg10=0.00 avg60=0.12 avg300=0.05 total=4711".
std::optional<core::Microseconds> stall_total(std::string_view line) {
  while (!line.empty()) {
    std::string_view value = take_until(line, ' ');
    if (take_until(value, '=') != "total") continue;
    const auto total = parse_number(value);
    if (!total || *total > most_microseconds) return std::nullopt;
    return to_microseconds(*total);
  }
  return std::nullopt;
}

// "16384000 kB"
std::optional<core::Bytes> kibibytes(std::string_view text) {
  std::string_view value = trimmed(text);
  const auto number = parse_number(take_until(value, ' '));
  constexpr std::uint64_t unit = 1024;
  if (!number || *number > core::unlimited / unit) return std::nullopt;
  return *number * unit;
}

// One counter of a file of "key value" lines, and where it is added to.
struct Wanted {
  std::string_view key;
  std::uint64_t* sum;
};

template <std::size_t size>
void add_up(std::string_view text, const std::array<Wanted, size>& wanted) {
  while (const auto line = take_keyed_number(text)) {
    for (const Wanted& want : wanted) {
      if (line->key == want.key) *want.sum += line->value;
    }
  }
}

}  // namespace

std::optional<core::StallTotals> parse_stall_totals(std::string_view text) {
  std::optional<core::Microseconds> some;
  std::optional<core::Microseconds> full;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view who = take_until(line, ' ');
    if (who == "some") some = stall_total(line);
    if (who == "full") full = stall_total(line);
  }
  if (!some) return std::nullopt;
  return core::StallTotals{.some = *some, .full = full.value_or(core::Microseconds(0))};
}

std::optional<MemoryInfo> parse_meminfo(std::string_view text) {
  std::optional<core::Bytes> total;
  std::optional<core::Bytes> available;
  MemoryInfo info;
  while (!text.empty()) {
    std::string_view value = take_until(text, '\n');
    const std::string_view key = take_until(value, ':');
    if (key == "MemTotal") total = kibibytes(value);
    if (key == "MemAvailable") available = kibibytes(value);
    if (key == "SwapTotal") info.swap_total = kibibytes(value).value_or(0);
    if (key == "SwapFree") info.swap_free = kibibytes(value).value_or(0);
  }
  if (!total || !available) return std::nullopt;
  info.total = *total;
  info.available = *available;
  return info;
}

ReclaimCounters parse_vmstat(std::string_view text) {
  ReclaimCounters counters;
  add_up(text, std::array<Wanted, 4>{{{"pgscan_kswapd", &counters.scanned_pages},
                                      {"pgscan_direct", &counters.scanned_pages},
                                      {"workingset_refault_anon", &counters.refaulted_anon_pages},
                                      {"workingset_refault_file", &counters.refaulted_file_pages}}});
  return counters;
}

MemoryStat parse_memory_stat(std::string_view text) {
  MemoryStat stat;
  add_up(text, std::array<Wanted, 13>{{{"anon", &stat.anon},
                                       {"file", &stat.file},
                                       {"shmem", &stat.shmem},
                                       {"kernel_stack", &stat.unreclaimable_kernel},
                                       {"pagetables", &stat.unreclaimable_kernel},
                                       {"sec_pagetables", &stat.unreclaimable_kernel},
                                       {"percpu", &stat.unreclaimable_kernel},
                                       {"sock", &stat.unreclaimable_kernel},
                                       {"vmalloc", &stat.unreclaimable_kernel},
                                       {"slab_unreclaimable", &stat.unreclaimable_kernel},
                                       {"pgscan", &stat.scanned_pages},
                                       {"workingset_refault_anon", &stat.refaulted_anon_pages},
                                       {"workingset_refault_file", &stat.refaulted_file_pages}}});
  return stat;
}

LimitEvents parse_limit_events(std::string_view text) {
  LimitEvents events;
  add_up(text, std::array<Wanted, 2>{{{"high", &events.high}, {"oom_kill", &events.oom_kill}}});
  return events;
}

bool parse_populated(std::string_view text) {
  std::uint64_t populated = 0;
  add_up(text, std::array<Wanted, 1>{{{"populated", &populated}}});
  return populated > 0;
}

core::Microseconds parse_cpu_time(std::string_view text) {
  std::uint64_t microseconds = 0;
  add_up(text, std::array<Wanted, 1>{{{"usage_usec", &microseconds}}});
  return to_microseconds(microseconds);
}

}  // namespace mljobd::kernel
