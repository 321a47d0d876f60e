// What the memory of a job, and of the machine, did in the last seconds.
#pragma once

#include <cstdint>
#include <optional>

#include "core/pressure_snapshot.hpp"
#include "core/sample_history.hpp"
#include "core/types.hpp"

namespace mljobd::core {

enum class Stall { some, full };

// All answers are empty until the window is full. Shares are 0..1.
class JobTrace {
 public:
  explicit JobTrace(Microseconds longest_window) : samples_(longest_window) {}

  // A counter that went back belongs to another cgroup: the past is dropped.
  void add(BootTime now, const CgroupMemory& memory);
  void clear() { samples_.clear(); }

  // Of the time of the window, how much stood still. Empty also where the kernel does not tell.
  [[nodiscard]] std::optional<double> stall(Stall kind, Microseconds window) const;
  // More than so much over the window, and at its end still.
  [[nodiscard]] bool stalls(Stall kind, std::uint32_t percent, Microseconds window) const;
  [[nodiscard]] bool reclaimed(Microseconds window) const;  // the kernel looked through its pages
  // CPU seconds per second.
  [[nodiscard]] std::optional<double> cpu_rate(Microseconds window) const;
  [[nodiscard]] std::optional<double> refaults_per_second(Microseconds window) const;
  [[nodiscard]] std::optional<std::int64_t> resident_growth(Microseconds window) const;  // bytes
  [[nodiscard]] bool hit_high(Microseconds window) const;

 private:
  struct Sample {
    BootTime at{};
    std::optional<StallTotals> stalls{};
    Microseconds cpu_time{0};
    std::uint64_t scanned = 0;
    std::uint64_t refaults = 0;
    std::uint64_t high_events = 0;
    Bytes resident = 0;
  };

  SampleHistory<Sample> samples_;
};

class MachineTrace {
 public:
  explicit MachineTrace(Microseconds longest_window) : samples_(longest_window) {}

  void add(BootTime now, Bytes available, std::uint64_t scanned_pages);
  void clear() { samples_.clear(); }

  [[nodiscard]] std::optional<double> slope(Microseconds window) const;  // of what is available, bytes per second
  // How long it lasts if it goes on like that. Empty while it does not fall.
  [[nodiscard]] std::optional<Microseconds> exhausted_in(Microseconds window) const;
  [[nodiscard]] bool reclaimed(Microseconds window) const;

 private:
  struct Sample {
    BootTime at{};
    Bytes available = 0;
    std::uint64_t scanned = 0;
  };

  SampleHistory<Sample> samples_;
};

}  // namespace mljobd::core
