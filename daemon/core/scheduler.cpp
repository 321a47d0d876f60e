#include "core/scheduler.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/format.hpp"
#include "core/ledger.hpp"
#include "core/queue_order.hpp"

namespace mljobd::core {
namespace {

struct Refusal {
  PendingReason reason = PendingReason::none;
  std::string detail{};
};
using Decision = std::optional<Refusal>;  // empty: nothing stands in the way

// What is free of a resource is kept for the first job that waits for it.
struct Reservation {
  const WaitingJob* head = nullptr;
  std::optional<Microseconds> ready{};  // the head can start after so long at the latest; empty: nobody can tell
  std::string behind{};                 // what those behind it are told; made once for all of them
};

// More are not worth reading; the first ones are the largest.
constexpr std::size_t named_jobs = 3;

std::string waits_for(const std::vector<JobId>& ids) {
  std::string text = ", waits for ";
  for (std::size_t i = 0; i < std::min(ids.size(), named_jobs); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
  }
  if (ids.size() > named_jobs) text += " and " + std::to_string(ids.size() - named_jobs) + " more";
  return text;
}

std::string_view to_word(Resource resource) { return resource == Resource::memory ? "memory" : "cpus"; }

PendingReason reason_of(Resource resource) {
  return resource == Resource::memory ? PendingReason::resources_memory : PendingReason::resources_cpus;
}

// "12.0G", "4 cores".
std::string amount_text(Resource resource, std::uint64_t amount) {
  if (resource == Resource::memory) return format_bytes(amount);
  return std::to_string(amount) + (amount == 1 ? " core" : " cores");
}

// "3.0G", "4": next to the same with its unit.
std::string free_text(Resource resource, std::uint64_t amount) {
  return resource == Resource::memory ? format_bytes(amount) : std::to_string(amount);
}

std::string running_text(const Places& places, std::string_view what) {
  std::string text = std::to_string(places.taken) + " of " + std::to_string(places.limit) + " ";
  text += what;
  return text + (places.limit == 1 ? " is running" : " are running");
}

// One pass over the queue. Each gate answers for one reason to wait and knows nothing of the others; a new one is a
// function more and a line in `gates`. Their order is that of what is said when several apply: what only a person can
// end comes first, and a job that may not start whatever is free must not get as far as the gate that reserves what is
// free.
class Planner {
 public:
  explicit Planner(const SchedulerInput& input) : input_(input), ledger_(input), order_(input) {}

  std::vector<PlanEntry> run() {
    std::vector<PlanEntry> entries;
    entries.reserve(input_.waiting.size());
    while (const auto* const job = order_.next()) entries.push_back(decide(*job));
    return entries;
  }

 private:
  PlanEntry decide(const WaitingJob& job) {
    using Gate = Decision (Planner::*)(const WaitingJob&);
    constexpr std::array gates{&Planner::held,           &Planner::draining,   &Planner::dependency,
                               &Planner::pressure,       &Planner::begin_time, &Planner::job_class,
                               &Planner::group,          &Planner::never_fits, &Planner::behind_head,
                               &Planner::resources_short};
    for (const Gate gate : gates) {
      if (auto refusal = (this->*gate)(job)) {
        return {.id = job.id, .start = false, .reason = refusal->reason, .detail = std::move(refusal->detail)};
      }
    }
    // A job that only the limit keeps back has its place all the same: nobody may take it meanwhile.
    ledger_.take(job);
    order_.charge(job);
    const bool start = started_ < input_.start_limit;
    if (start) ++started_;
    return {.id = job.id, .start = start};
  }

  Decision held(const WaitingJob& job) {
    if (!job.held) return std::nullopt;
    return Refusal{PendingReason::held};
  }

  Decision draining(const WaitingJob& job) {
    // What has to be ended is ended all the same.
    if (!input_.draining || job.dependency.status == DependencyStatus::never) return std::nullopt;
    return Refusal{PendingReason::draining};
  }

  Decision dependency(const WaitingJob& job) {
    switch (job.dependency.status) {
      case DependencyStatus::satisfied:
        return std::nullopt;
      case DependencyStatus::pending:
        return Refusal{PendingReason::dependency, job.dependency.detail};
      case DependencyStatus::never:
        return Refusal{PendingReason::dependency_never_satisfied, job.dependency.detail};
    }
    return std::nullopt;
  }

  Decision pressure(const WaitingJob& job) {
    if (!input_.pressure.empty()) return Refusal{PendingReason::pressure, input_.pressure};
    if (!job.waits_for_memory.empty()) return Refusal{PendingReason::pressure, job.waits_for_memory};
    return std::nullopt;
  }

  Decision begin_time(const WaitingJob& job) {
    if (!job.begin || *job.begin <= input_.now.real) return std::nullopt;
    return Refusal{PendingReason::begin_time, "until " + format_time(*job.begin)};
  }

  Decision job_class(const WaitingJob& job) {
    auto* const places = ledger_.places_of_class(job.class_name);
    if (places == nullptr) {
      return Refusal{PendingReason::job_class, "class " + std::string(job.class_name) + " is no longer configured"};
    }
    if (is_full(*places) && places->full_text.empty()) {
      places->full_text = running_text(*places, std::string(job.class_name) + (places->limit == 1 ? " job" : " jobs"));
    }
    return place_in(*places, PendingReason::job_class);
  }

  // A singleton waits for another job of its name: to people that is a dependency.
  Decision group(const WaitingJob& job) {
    auto* const places = ledger_.places_of_group(job);
    if (places == nullptr) return std::nullopt;
    const bool is_array = job.group_kind == GroupKind::array;
    if (is_full(*places) && places->full_text.empty()) {
      places->full_text = is_array
                              ? std::to_string(places->taken) + " of its jobs " + (places->taken == 1 ? "runs" : "run")
                              : running_text(*places, "of " + std::string(job.group));
    }
    return place_in(*places, is_array ? PendingReason::array_limit : PendingReason::dependency);
  }

  static bool is_full(const Places& places) { return places.limit != 0 && places.taken >= places.limit; }

  Decision place_in(const Places& places, PendingReason reason) const {
    if (is_full(places)) return Refusal{reason, places.full_text};
    // A head keeps a place as well: else small jobs of the class could take it in turns for ever.
    if (places.limit != 0 && places.kept >= places.limit - places.taken) {
      return Refusal{PendingReason::priority, reservation(places.keeper).behind};
    }
    return std::nullopt;
  }

  // It will never fit unless the machine or the configuration changes: waiting for it would stop the queue for good.
  Decision never_fits(const WaitingJob& job) {
    const auto needs = needs_of(job);
    for (const auto resource : resources) {
      const auto capacity = ledger_.capacity(resource);
      if (needs[resource] <= capacity) continue;
      return Refusal{reason_of(resource), "needs " + amount_text(resource, needs[resource]) +
                                              ", but jobs on this machine may use " + free_text(resource, capacity) +
                                              " in all"};
    }
    return std::nullopt;
  }

  Decision behind_head(const WaitingJob& job) {
    const auto needs = needs_of(job);
    const Reservation* ahead = nullptr;
    bool slips_in = job.time_limit.has_value();
    for (const auto resource : resources) {
      const auto& kept = reservation(resource);
      if (needs[resource] == 0 || kept.head == nullptr) continue;
      if (ahead == nullptr) ahead = &kept;
      slips_in = slips_in && kept.ready && *job.time_limit <= *kept.ready;
    }
    if (ahead == nullptr || (slips_in && fits(needs))) return std::nullopt;
    return Refusal{PendingReason::priority, ahead->behind};
  }

  Decision resources_short(const WaitingJob& job) {
    const auto needs = needs_of(job);
    if (fits(needs)) return std::nullopt;
    order_.charge(job);
    Refusal refusal;
    for (const auto resource : resources) {
      if (needs[resource] > ledger_.free(resource)) {
        if (refusal.reason == PendingReason::none) {
          refusal.reason = reason_of(resource);
          keep_places(job, resource);
        } else {
          refusal.detail += "; ";
        }
        refusal.detail += reserve(job, resource);
      } else if (refusal.reason == PendingReason::none) {
        // It may have waited for this one, so it gives it to nobody. Where one that is collected before is missing,
        // others may use this one meanwhile.
        ledger_.keep(job, resource);
      }
    }
    return refusal;
  }

  [[nodiscard]] bool fits(const Amounts& needs) const {
    return std::all_of(resources.begin(), resources.end(),
                       [&](Resource resource) { return needs[resource] <= ledger_.free(resource); });
  }

  [[nodiscard]] const Reservation& reservation(Resource resource) const {
    return reservations_[static_cast<std::size_t>(resource)];
  }

  // From here on what is free of the resource is for this job. Says what it waits for.
  std::string reserve(const WaitingJob& job, Resource resource) {
    const auto need = needs_of(job)[resource];
    reservations_[static_cast<std::size_t>(resource)] = {
        .head = &job,
        .ready = ledger_.free_after(resource, need),
        .behind = "behind job " + std::to_string(job.id) + ", which waits for " + std::string(to_word(resource))};
    return "needs " + amount_text(resource, need) + ", " + free_text(resource, ledger_.free(resource)) + " free" +
           waits_for(ledger_.in_the_way_of(resource, need));
  }

  void keep_places(const WaitingJob& job, Resource awaited) {
    for (auto* const places : {ledger_.places_of_class(job.class_name), ledger_.places_of_group(job)}) {
      if (places == nullptr) continue;
      ++places->kept;
      places->keeper = awaited;
    }
  }

  const SchedulerInput& input_;
  Ledger ledger_;
  QueueOrder order_;
  std::array<Reservation, resources.size()> reservations_{};
  std::uint32_t started_ = 0;
};

}  // namespace

std::vector<PlanEntry> plan(const SchedulerInput& input) { return Planner(input).run(); }

}  // namespace mljobd::core
