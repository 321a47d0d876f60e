// In which order waiting jobs are looked at: priority first; among equals the user who uses least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/scheduler.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// What users use, as shares of the machine.
//
// A user's use is that of the resource they have the largest share of (dominant resource fairness: Ghodsi et al.,
// NSDI 2011). Seen from a waiting job only the older ones of its user count: those that passed it while it waited must
// not push it back, else a user's small jobs and other users together would starve it. Of users who use the same, the
// one whose last turn is longest ago comes first, else one user's long queue for a class of one would go before
// everybody else's first job.
class FairShare {
 public:
  explicit FairShare(const SchedulerInput& input);

  // Compared with <, a smaller one comes first.
  struct Standing {
    double dominant_share = 0;  // 0..1, more where the capacity was lowered
    std::uint64_t jobs = 0;     // those that claim nothing count as well
    RealTime last_turn = RealTime::min();

    auto operator<=>(const Standing&) const = default;
  };
  // Of a user, as far as it matters to their waiting job of that id.
  [[nodiscard]] Standing standing(UserId user, JobId id) const;
  // The job got its resources, or they are kept for it.
  void charge(const WaitingJob& job);

 private:
  struct Use {
    Bytes memory = 0;
    std::uint64_t cores = 0;
    std::uint64_t jobs = 0;

    void add(const Use& more);
  };
  struct UseUpTo {
    JobId id = 0;
    Use total{};  // of the user's jobs up to this one
  };
  struct TurnUpTo {
    JobId id = 0;
    RealTime latest{};  // of the user's jobs up to this one
  };
  struct User {
    std::vector<UseUpTo> running{};
    std::vector<TurnUpTo> served{};
    Use given{};  // by this plan
  };

  Bytes memory_capacity_;
  std::uint32_t core_capacity_;
  std::unordered_map<UserId, User> users_;
};

// Hands out the waiting jobs one by one. Jobs of equal priority and owner keep the order of submission.
class QueueOrder {
 public:
  explicit QueueOrder(const SchedulerInput& input);

  // The next to be looked at; null after the last. Valid as long as the input.
  [[nodiscard]] const WaitingJob* next();
  // What next() returned last got its resources or has them kept: others of its owner come later for it.
  void charge(const WaitingJob& job) { fair_share_.charge(job); }

 private:
  struct Place {
    std::int32_t priority = 0;
    UserId owner = 0;
    RealTime submitted{};
    JobId id = 0;
    const WaitingJob* job = nullptr;
  };
  // The jobs of one user and one priority that are still to be handed out.
  struct Line {
    std::tuple<FairShare::Standing, RealTime, JobId> rank{};  // of its first job
    std::size_t next = 0;                                     // index into places_
    std::size_t end = 0;
  };

  void open_level();
  void push(Line line);

  std::vector<Place> places_;  // by priority, owner, submission, id
  std::size_t level_end_ = 0;  // the lines of this priority end here
  std::vector<Line> lines_;    // a heap, the smallest rank on top
  std::optional<Line> current_;
  FairShare fair_share_;
};

}  // namespace mljobd::core
