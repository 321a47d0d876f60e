#include "core/queue_order.hpp"

#include <algorithm>

namespace mljobd::core {
namespace {

double share(std::uint64_t used, std::uint64_t capacity) {
  return capacity == 0 ? 0 : static_cast<double>(used) / static_cast<double>(capacity);
}

// What the user's jobs older than this one add up to; null when there are none.
template <class UpTo>
const UpTo* before(const std::vector<UpTo>& jobs, JobId id) {
  const auto end = std::partition_point(jobs.begin(), jobs.end(), [id](const UpTo& job) { return job.id < id; });
  return end == jobs.begin() ? nullptr : &*std::prev(end);
}

}  // namespace

void FairShare::Use::add(const Use& more) {
  memory = more.memory > unlimited - memory ? unlimited : memory + more.memory;
  cores += more.cores;
  jobs += more.jobs;
}

FairShare::FairShare(const SchedulerInput& input)
    : memory_capacity_(input.memory_capacity), core_capacity_(input.core_capacity) {
  for (const auto& job : input.running) {
    users_[job.owner].running.push_back({job.id, {.memory = job.memory_claim, .cores = job.cores, .jobs = 1}});
  }
  for (const auto& job : input.served) users_[job.owner].served.push_back({.id = job.id, .latest = job.started});
  const auto by_id = [](const auto& left, const auto& right) { return left.id < right.id; };
  for (auto& [id, user] : users_) {
    std::sort(user.running.begin(), user.running.end(), by_id);
    for (std::size_t i = 1; i < user.running.size(); ++i) {
      user.running[i].total.add(user.running[i - 1].total);
    }
    std::sort(user.served.begin(), user.served.end(), by_id);
    for (std::size_t i = 1; i < user.served.size(); ++i) {
      user.served[i].latest = std::max(user.served[i].latest, user.served[i - 1].latest);
    }
  }
}

FairShare::Standing FairShare::standing(UserId user, JobId id) const {
  const auto found = users_.find(user);
  if (found == users_.end()) return {};
  Use use = found->second.given;
  if (const auto* const running = before(found->second.running, id)) use.add(running->total);
  const auto* const turn = before(found->second.served, id);
  return {.dominant_share = std::max(share(use.memory, memory_capacity_), share(use.cores, core_capacity_)),
          .jobs = use.jobs,
          .last_turn = turn == nullptr ? RealTime::min() : turn->latest};
}

void FairShare::charge(const WaitingJob& job) {
  users_[job.owner].given.add({.memory = job.memory_claim, .cores = job.cores, .jobs = 1});
}

QueueOrder::QueueOrder(const SchedulerInput& input) : fair_share_(input) {
  places_.reserve(input.waiting.size());
  for (const auto& job : input.waiting) places_.push_back({job.priority, job.owner, job.submitted, job.id, &job});
  std::sort(places_.begin(), places_.end(), [](const Place& left, const Place& right) {
    return std::tie(right.priority, left.owner, left.submitted, left.id) <
           std::tie(left.priority, right.owner, right.submitted, right.id);
  });
}

const WaitingJob* QueueOrder::next() {
  // Only now: what the last one was given decides where its owner's next one stands.
  if (current_) push(*current_);
  current_.reset();
  if (lines_.empty()) open_level();
  if (lines_.empty()) return nullptr;
  std::pop_heap(lines_.begin(), lines_.end(),
                [](const Line& left, const Line& right) { return right.rank < left.rank; });
  current_ = lines_.back();
  lines_.pop_back();
  return places_[current_->next++].job;
}

void QueueOrder::open_level() {
  const std::size_t begin = level_end_;
  while (level_end_ < places_.size() && places_[level_end_].priority == places_[begin].priority) {
    Line line{.next = level_end_};
    const auto& first = places_[line.next];
    while (level_end_ < places_.size() && places_[level_end_].priority == first.priority &&
           places_[level_end_].owner == first.owner) {
      ++level_end_;
    }
    line.end = level_end_;
    push(line);
  }
}

void QueueOrder::push(Line line) {
  if (line.next == line.end) return;
  const auto& first = places_[line.next];
  line.rank = {fair_share_.standing(first.owner, first.id), first.submitted, first.id};
  lines_.push_back(line);
  std::push_heap(lines_.begin(), lines_.end(),
                 [](const Line& left, const Line& right) { return right.rank < left.rank; });
}

}  // namespace mljobd::core
