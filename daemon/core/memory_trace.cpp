#include "core/memory_trace.hpp"

#include <algorithm>

namespace mljobd::core {
namespace {

double seconds_between(BootTime begin, BootTime end) {
  return std::chrono::duration<double>(std::max(end - begin, Microseconds{1})).count();
}

double to_double(Bytes later, Bytes earlier) { return static_cast<double>(later) - static_cast<double>(earlier); }

Microseconds total(const StallTotals& totals, Stall kind) { return kind == Stall::some ? totals.some : totals.full; }

// A stall that is over is no reason to act, however long its window still remembers it.
constexpr Microseconds still_there(Microseconds window) { return window * 2 / 5; }

}  // namespace

void JobTrace::add(BootTime now, const CgroupMemory& memory) {
  const Sample sample{.at = now,
                      .stalls = memory.memory_stalls,
                      .cpu_time = memory.cpu_time,
                      .scanned = memory.scanned_pages,
                      .refaults = memory.refaulted_anon_pages,
                      .high_events = memory.high_events,
                      .resident = resident_memory(memory)};
  if (!samples_.empty()) {
    const Sample& last = samples_.latest();
    const bool stalls_differ = last.stalls.has_value() != sample.stalls.has_value();
    if (stalls_differ || (sample.stalls && sample.stalls->some < last.stalls->some) ||
        sample.cpu_time < last.cpu_time || sample.scanned < last.scanned || sample.refaults < last.refaults ||
        sample.high_events < last.high_events) {
      samples_.clear();
    }
  }
  samples_.add(sample);
}

std::optional<double> JobTrace::stall(Stall kind, Microseconds window) const {
  const auto* const then = samples_.before(window);
  if (then == nullptr || !then->stalls) return std::nullopt;
  const Sample& now = samples_.latest();
  const auto stalled = total(*now.stalls, kind) - total(*then->stalls, kind);
  return std::chrono::duration<double>(stalled).count() / seconds_between(then->at, now.at);
}

bool JobTrace::stalls(Stall kind, std::uint32_t percent, Microseconds window) const {
  const double share = percent / 100.0;
  return stall(kind, window).value_or(0) > share && stall(kind, still_there(window)).value_or(0) > share;
}

bool JobTrace::reclaimed(Microseconds window) const {
  const auto* const then = samples_.before(window);
  return then != nullptr && samples_.latest().scanned > then->scanned;
}

std::optional<double> JobTrace::cpu_rate(Microseconds window) const {
  const auto* const then = samples_.before(window);
  if (then == nullptr) return std::nullopt;
  const Sample& now = samples_.latest();
  return std::chrono::duration<double>(now.cpu_time - then->cpu_time).count() / seconds_between(then->at, now.at);
}

std::optional<double> JobTrace::refaults_per_second(Microseconds window) const {
  const auto* const then = samples_.before(window);
  if (then == nullptr) return std::nullopt;
  const Sample& now = samples_.latest();
  return static_cast<double>(now.refaults - then->refaults) / seconds_between(then->at, now.at);
}

std::optional<std::int64_t> JobTrace::resident_growth(Microseconds window) const {
  const auto* const then = samples_.before(window);
  if (then == nullptr) return std::nullopt;
  return static_cast<std::int64_t>(samples_.latest().resident) - static_cast<std::int64_t>(then->resident);
}

bool JobTrace::hit_high(Microseconds window) const {
  const auto* const then = samples_.before(window);
  return then != nullptr && samples_.latest().high_events > then->high_events;
}

void MachineTrace::add(BootTime now, Bytes available, std::uint64_t scanned_pages) {
  samples_.add({.at = now, .available = available, .scanned = scanned_pages});
}

std::optional<double> MachineTrace::slope(Microseconds window) const {
  const auto* const then = samples_.before(window);
  if (then == nullptr) return std::nullopt;
  const Sample& now = samples_.latest();
  return to_double(now.available, then->available) / seconds_between(then->at, now.at);
}

std::optional<Microseconds> MachineTrace::exhausted_in(Microseconds window) const {
  const auto falling = slope(window);
  if (!falling || *falling >= 0) return std::nullopt;
  constexpr double longest = 86400;  // a day is "not soon" and fits into microseconds
  const double seconds = std::min(static_cast<double>(samples_.latest().available) / -*falling, longest);
  return std::chrono::duration_cast<Microseconds>(std::chrono::duration<double>(seconds));
}

bool MachineTrace::reclaimed(Microseconds window) const {
  const auto* const then = samples_.before(window);
  return then != nullptr && samples_.latest().scanned > then->scanned;
}

}  // namespace mljobd::core
