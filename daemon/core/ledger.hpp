// What is taken of the machine and of the bounds, by jobs that run and by those that a plan starts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/scheduler.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// In the order in which a job collects them.
enum class Resource : std::uint8_t { memory, cpus };
inline constexpr std::array resources{Resource::memory, Resource::cpus};

// Something of each resource: bytes, cores.
class Amounts {
 public:
  Amounts() = default;
  Amounts(Bytes memory, std::uint32_t cores) : values_{memory, cores} {}

  [[nodiscard]] std::uint64_t operator[](Resource resource) const {
    return values_[static_cast<std::size_t>(resource)];
  }
  [[nodiscard]] std::uint64_t& operator[](Resource resource) { return values_[static_cast<std::size_t>(resource)]; }

 private:
  std::array<std::uint64_t, resources.size()> values_{};
};

[[nodiscard]] inline Amounts needs_of(const WaitingJob& job) { return {job.memory_claim, job.cores}; }

// The places of a class or a group.
struct Places {
  std::uint32_t limit = 0;  // 0 = no bound
  std::uint32_t taken = 0;
  std::uint32_t kept = 0;   // for jobs that wait for resources
  Resource keeper{};        // what the last of those waits for; meaningful where any are kept
  std::string full_text{};  // made once: it is the same for all who wait
};

class Ledger {
 public:
  explicit Ledger(const SchedulerInput& input);

  [[nodiscard]] std::uint64_t capacity(Resource resource) const { return capacity_[resource]; }
  // Claims can exceed the capacity: it may have been lowered under running jobs.
  [[nodiscard]] std::uint64_t free(Resource resource) const;

  // Null for a class that is not configured (any more).
  [[nodiscard]] Places* places_of_class(std::string_view name);
  // Those of the job's group, with the job's own limit; null without a bound.
  [[nodiscard]] Places* places_of_group(const WaitingJob& job);

  // The job starts: its resources and its places are gone.
  void take(const WaitingJob& job);
  // So much of the resource is kept for a job that still waits for another one, for nobody knows how long.
  void keep(const WaitingJob& job, Resource resource);

  // The jobs whose end would free the amount, the largest holders first.
  [[nodiscard]] std::vector<JobId> in_the_way_of(Resource resource, std::uint64_t amount) const;
  // After how long the amount is free at the latest, as the time limits of its holders have it; empty when those that
  // have one do not free enough.
  [[nodiscard]] std::optional<Microseconds> free_after(Resource resource, std::uint64_t amount) const;

 private:
  struct Holder {
    JobId id = 0;
    Amounts amounts{};
    std::optional<Microseconds> remaining{};
  };

  void count(const Holder& holder);

  Amounts capacity_;
  Amounts used_;
  std::vector<Holder> holders_;
  std::unordered_map<std::string_view, Places> classes_;
  std::unordered_map<std::string_view, Places> groups_;
};

}  // namespace mljobd::core
