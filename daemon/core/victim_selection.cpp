#include "core/victim_selection.hpp"

#include <algorithm>
#include <tuple>

namespace mljobd::core {
namespace {

using Condition = PressureJob::Condition;

Bytes frees(const VictimQuestion& question, const PressureJob& job) {
  return question.measure == Measure::kill ? resident_memory(job.memory) : movable_memory(job.memory);
}

PassedOver by_condition(const VictimQuestion& question, const PressureJob& job) {
  const bool may_be_young = question.emergency && question.measure == Measure::kill;
  switch (job.condition) {
    case Condition::starting:
      return may_be_young ? PassedOver::no : PassedOver::starting;
    case Condition::stopping:
      return PassedOver::stopping;
    case Condition::parked:
      return PassedOver::parked;
    case Condition::parking:
      return question.measure == Measure::kill ? PassedOver::no : PassedOver::parking;
    case Condition::frozen_by_user:
      return question.measure == Measure::throttle ? PassedOver::frozen : PassedOver::no;
    case Condition::running:
      return PassedOver::no;
  }
  return PassedOver::no;
}

PassedOver by_measure(const PressureSettings& settings, const VictimQuestion& question, const Contender& contender) {
  const PressureJob& job = *contender.job;
  switch (question.measure) {
    case Measure::throttle:
      if (contender.throttled) return PassedOver::throttled;
      return question.growers_only && !contender.grows ? PassedOver::not_growing : PassedOver::no;
    case Measure::park:
      if (contender.park_failed) return PassedOver::park_failed;
      if (!job.unparkable.empty()) return PassedOver::unparkable;
      return fits_in_swap(settings, question.machine, job.memory) ? PassedOver::no : PassedOver::no_swap_room;
    case Measure::kill:
      return contender.unkillable ? PassedOver::unkillable : PassedOver::no;
  }
  return PassedOver::no;
}

// Why it cannot be asked at all.
PassedOver unfit(const PressureSettings& settings, const VictimQuestion& question, const Contender& contender) {
  const PressureJob& job = *contender.job;
  if (question.top == job.id) return PassedOver::top;
  if (!job.memory.populated) return PassedOver::empty;
  if (const auto reason = by_condition(question, job); reason != PassedOver::no) return reason;
  const bool take_any = question.emergency && question.measure == Measure::kill;
  const bool is_young = question.now.boot - job.started < settings.young_time;
  // It may be slowed down or parked, which undoes nothing: better than to ask a more important one.
  if (question.measure == Measure::kill && !take_any && is_young) return PassedOver::young;
  const Bytes least = take_any ? 1 : std::min(bytes_of(settings.help_at_least, question.capacity), question.deficit);
  if (frees(question, job) < least) return PassedOver::too_small;
  return by_measure(settings, question, contender);
}

bool restartable(const PressureJob& job) { return job.requeue || job.checkpoint_grace.has_value(); }

Bytes rounded(const VictimQuestion& question, Bytes size) { return size / std::max<Bytes>(question.capacity / 50, 1); }

// Why `other` comes after `first`, or `no` where it comes before it. The order is total.
PassedOver after(const VictimQuestion& question, const Contender& first, const Contender& other) {
  const PressureJob& a = *first.job;
  const PressureJob& b = *other.job;
  const auto decide = [](bool is_after, PassedOver reason) { return is_after ? reason : PassedOver::no; };
  if (std::tie(a.rank, a.priority) != std::tie(b.rank, b.priority)) {
    return decide(std::tie(b.rank, b.priority) > std::tie(a.rank, a.priority), PassedOver::more_important);
  }
  if (question.measure == Measure::kill && restartable(a) != restartable(b)) {
    return decide(!restartable(b), PassedOver::not_restartable);
  }
  const Bytes size_a = frees(question, a);
  const Bytes size_b = frees(question, b);
  const bool enough_a = size_a >= question.deficit;
  if (const bool enough_b = size_b >= question.deficit; enough_a != enough_b) {
    return decide(!enough_b, PassedOver::frees_too_little);
  }
  if (rounded(question, size_a) != rounded(question, size_b)) {
    return enough_a ? decide(size_b > size_a, PassedOver::frees_more_than_needed)
                    : decide(size_b < size_a, PassedOver::frees_less);
  }
  if (first.grows != other.grows) return decide(!other.grows, PassedOver::grows_less);
  return decide(std::tie(b.started, b.id) < std::tie(a.started, a.id), PassedOver::older);
}

bool goes_before(const VictimQuestion& question, const Contender& left, const Contender& right) {
  return after(question, left, right) != PassedOver::no;
}

}  // namespace

std::string_view to_word(PassedOver reason) {
  constexpr std::string_view words[] = {"chosen",
                                        "top",
                                        "empty",
                                        "starting",
                                        "young",
                                        "stopping",
                                        "parked",
                                        "parking",
                                        "frozen",
                                        "throttled",
                                        "unkillable",
                                        "park-failed",
                                        "unparkable",
                                        "no-swap-room",
                                        "too-small",
                                        "not-growing",
                                        "more-important",
                                        "not-restartable",
                                        "frees-too-little",
                                        "frees-more-than-needed",
                                        "frees-less",
                                        "grows-less",
                                        "older"};
  static_assert(std::size(words) == static_cast<std::size_t>(PassedOver::older) + 1);
  return words[static_cast<std::size_t>(reason)];
}

bool more_important(const PressureJob& left, const PressureJob& right) {
  return std::tie(right.rank, right.priority, left.started, left.id) <
         std::tie(left.rank, left.priority, right.started, right.id);
}

std::optional<JobId> top_job(std::span<const PressureJob> jobs) {
  const PressureJob* top = nullptr;
  for (const auto& job : jobs) {
    const bool runs = job.condition == Condition::running || job.condition == Condition::starting;
    if (runs && (top == nullptr || more_important(job, *top))) top = &job;
  }
  return top == nullptr ? std::nullopt : std::optional(top->id);
}

bool fits_in_swap(const PressureSettings& settings, const MachineMemory& machine, const CgroupMemory& memory) {
  const Bytes allowed = bytes_of({settings.park_swap_percent, unlimited}, machine.swap_total);
  const Bytes used = machine.swap_total - std::min(machine.swap_free, machine.swap_total);
  const Bytes moved = movable_memory(memory);
  return used < allowed && moved <= allowed - used;
}

const PressureJob* select_victim(const PressureSettings& settings, const VictimQuestion& question,
                                 std::span<const Contender> contenders) {
  const Contender* chosen = nullptr;
  for (const auto& contender : contenders) {
    if (unfit(settings, question, contender) != PassedOver::no) continue;
    if (chosen == nullptr || goes_before(question, contender, *chosen)) chosen = &contender;
  }
  return chosen == nullptr ? nullptr : chosen->job;
}

std::vector<Candidate> weigh(const PressureSettings& settings, const VictimQuestion& question,
                             std::span<const Contender> contenders, const PressureJob* chosen, std::size_t limit) {
  std::vector<const Contender*> order;
  order.reserve(contenders.size());
  for (const auto& contender : contenders) order.push_back(&contender);
  const auto shown = std::min(limit, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](const Contender* left, const Contender* right) {
                      const bool left_chosen = left->job == chosen;
                      if (left_chosen != (right->job == chosen)) return left_chosen;
                      return goes_before(question, *left, *right);
                    });
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < shown; ++i) {
    const PressureJob& job = *order[i]->job;
    auto reason = unfit(settings, question, *order[i]);
    if (reason == PassedOver::no && order[i]->job != chosen && order.front()->job == chosen) {
      reason = after(question, *order.front(), *order[i]);
    }
    std::string verdict(to_word(reason));
    if (reason == PassedOver::unparkable) verdict += " (" + job.unparkable + ")";
    candidates.push_back({job.id, job.name, job.class_name, job.rank, frees(question, job), std::move(verdict)});
  }
  return candidates;
}

}  // namespace mljobd::core
