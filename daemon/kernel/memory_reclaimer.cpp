#include "kernel/memory_reclaimer.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sys/eventfd.h>

namespace mljobd::kernel {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr core::Bytes mebibyte = core::Bytes{1024} * 1024;
constexpr core::Bytes first_chunk = 16 * mebibyte;
constexpr core::Bytes smallest_chunk = mebibyte;
constexpr core::Bytes largest_chunk = 256 * mebibyte;
constexpr core::Microseconds short_chunk = 50ms;
constexpr core::Microseconds long_chunk = 200ms;

// The kernel tries 16 times itself before it says EAGAIN. What may help it is time: pages under write-back cannot be
// taken until they are written.
constexpr int most_idle_rounds = 5;
constexpr std::chrono::milliseconds idle_pause = 100ms;
// Four of the kernel's batches (SWAP_CLUSTER_MAX pages); less is noise of its counters.
constexpr core::Bytes least_progress = core::Bytes{512} * 1024;

// The daemon's signals belong to the loop: one that arrived here would be lost, and would break a reclaim off (EINTR).
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

bool fell(core::Bytes before, core::Bytes after) { return before >= after + least_progress; }

// One request, from its first look to its end.
class MovingOut {
 public:
  MovingOut(ReclaimId id, const ReclaimRequest& request) : request_(request), status_{.id = id} {}

  [[nodiscard]] const ReclaimReport& status() const { return status_; }
  [[nodiscard]] bool ended() const { return status_.state != ReclaimState::running; }
  [[nodiscard]] const ReclaimReport& cancelled() {
    end(ReclaimState::cancelled, 0);
    return status_;
  }
  // What to wait before the next chunk, after one that took nothing.
  [[nodiscard]] std::chrono::milliseconds pause() const { return idle_rounds_ > 0 ? idle_pause : 0ms; }

  void look();
  void take_chunk();

 private:
  void end(ReclaimState state, int error) {
    status_.state = state;
    status_.error = error;
  }
  void refused(int error) {
    end(error == ENODEV || error == ENOENT ? ReclaimState::gone : ReclaimState::failed, error);
  }

  const ReclaimRequest& request_;
  ReclaimReport status_;
  Clock::time_point start_ = Clock::now();
  std::optional<core::Bytes> swappable_at_first_{};
  std::optional<HeldMemory> before_{};  // what the round found
  core::Bytes chunk_ = first_chunk;
  int idle_rounds_ = 0;
  int last_error_ = 0;
};

void MovingOut::look() {
  const auto held = request_.target->look();
  status_.took = std::chrono::duration_cast<core::Microseconds>(Clock::now() - start_);
  if (!held) return refused(held.error().number);
  if (!swappable_at_first_) swappable_at_first_ = held->swappable;
  status_.left = held->swappable;
  status_.moved = *swappable_at_first_ - std::min(*swappable_at_first_, held->swappable);
  // The kernel also takes page cache, first of all: only memory.current shows that it got on.
  const bool idle = before_ && !fell(before_->current, held->current) && !fell(before_->swappable, held->swappable);
  idle_rounds_ = idle ? idle_rounds_ + 1 : 0;
  before_ = *held;
  if (held->swappable <= request_.floor) return end(ReclaimState::small, 0);
  if (idle_rounds_ >= most_idle_rounds) return end(ReclaimState::stuck, last_error_);
  if (status_.took >= request_.longest) return end(ReclaimState::timed_out, 0);
}

void MovingOut::take_chunk() {
  const auto start = Clock::now();
  last_error_ = request_.target->reclaim(std::min(chunk_, status_.left - request_.floor));
  chunk_ = next_chunk(chunk_, std::chrono::duration_cast<core::Microseconds>(Clock::now() - start));
  if (last_error_ != 0 && last_error_ != EAGAIN) refused(last_error_);
}

}  // namespace

core::Bytes next_chunk(core::Bytes chunk, core::Microseconds took) {
  if (took > long_chunk) return std::max(chunk / 2, smallest_chunk);
  if (took < short_chunk) return std::min(chunk * 2, largest_chunk);
  return chunk;
}

MemoryReclaimer::MemoryReclaimer() : ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!ready_) throw std::system_error(errno, std::generic_category(), "making an eventfd");
  // Started now, for under pressure there may be no thread to be had.
  const SignalsBlocked blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

MemoryReclaimer::~MemoryReclaimer() = default;

ReclaimId MemoryReclaimer::submit(ReclaimRequest request) {
  ReclaimId id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_id_;
    waiting_.push_back({.id = id, .request = std::move(request)});
  }
  wake_.notify_all();
  return id;
}

void MemoryReclaimer::cancel(ReclaimId id) {
  {
    const std::lock_guard lock(mutex_);
    if (serving_ == id) cancelled_ = true;
    if (std::erase_if(waiting_, [id](const Task& task) { return task.id == id; }) > 0) {
      add_report({.id = id, .state = ReclaimState::cancelled});
    }
  }
  wake_.notify_all();
}

std::vector<ReclaimReport> MemoryReclaimer::take_reports() {
  const std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  (void)::eventfd_read(ready_.get(), &count);
  return std::exchange(reports_, {});
}

void MemoryReclaimer::report(const ReclaimReport& report) {
  const std::lock_guard lock(mutex_);
  if (report.state != ReclaimState::running) serving_ = 0;
  add_report(report);
}

void MemoryReclaimer::add_report(const ReclaimReport& report) {
  std::erase_if(reports_, [&report](const ReclaimReport& old) { return old.id == report.id; });
  reports_.push_back(report);
  (void)::eventfd_write(ready_.get(), 1);  // fails only when it is readable as can be
}

void MemoryReclaimer::serve(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "mljobd-reclaim");
  while (const auto task = next_task(stop)) {
    const ReclaimReport end = move_out(*task, stop);
    if (stop.stop_requested()) return;
    report(end);
  }
}

std::optional<MemoryReclaimer::Task> MemoryReclaimer::next_task(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, stop, [this] { return !waiting_.empty(); });
  if (stop.stop_requested()) return std::nullopt;
  Task task = std::move(waiting_.front());
  waiting_.pop_front();
  serving_ = task.id;
  cancelled_ = false;
  return task;
}

bool MemoryReclaimer::ends_within(const std::stop_token& stop, std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, pause, [this] { return cancelled_; });
  return cancelled_ || stop.stop_requested();
}

ReclaimReport MemoryReclaimer::move_out(const Task& task, const std::stop_token& stop) {
  MovingOut moving(task.id, task.request);
  while (true) {
    moving.look();
    if (moving.ended()) return moving.status();
    if (ends_within(stop, moving.pause())) return moving.cancelled();
    report(moving.status());
    moving.take_chunk();
    if (moving.ended()) return moving.status();
  }
}

}  // namespace mljobd::kernel
