// Workloads for the scheduler, made from a seed: the same one each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/scheduler.hpp"

namespace mljobd::core::simulation {

inline constexpr Microseconds for_ever = Microseconds::max();
// Simulated time begins here, so that begin times are times of the wall clock.
inline constexpr RealTime epoch{std::chrono::hours(1)};

struct SimulatedJob {
  WaitingJob job{};  // id is its index + 1; submitted, held and dependency are the simulator's
  Microseconds arrives{0};
  Microseconds runs_for{0};  // at most its time limit
  Microseconds released{0};  // held until then
  JobResult result = JobResult::done;
  std::vector<Dependency> after{};
};

struct Workload {
  std::uint64_t seed = 0;
  std::vector<JobClass> classes{};
  Bytes memory = 0;
  std::uint32_t cores = 0;
  std::uint32_t start_limit = 0;
  std::vector<SimulatedJob> jobs{};
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // 0..bound-1. Not one of std's distributions: those differ between libraries.
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  std::uint32_t below32(std::uint32_t bound) { return static_cast<std::uint32_t>(below(bound)); }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  // (0, 1]
  double fraction() { return static_cast<double>(1 + below(std::uint64_t{1} << 30)) / static_cast<double>(1U << 30); }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

// A small machine and a few jobs of every kind, crowded enough that most have to wait.
[[nodiscard]] Workload random_workload(std::uint64_t seed);

// Three days of a shared machine: bursts of submissions, heavy tails in run times and memory, eight users.
[[nodiscard]] Workload trace(std::uint64_t seed, std::size_t jobs);

// For the report of a failure.
[[nodiscard]] std::string describe(const Workload& workload);

}  // namespace mljobd::core::simulation
