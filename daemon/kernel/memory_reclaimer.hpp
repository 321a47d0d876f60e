// Moves the memory of frozen jobs out to swap. The kernel works on a write to memory.reclaim until it is done, which on
// a slow disk takes seconds: hence a thread, the only one beside the loop's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/types.hpp"
#include "kernel/reclaim_target.hpp"
#include "kernel/unique_fd.hpp"

namespace mljobd::kernel {

using ReclaimId = std::uint64_t;  // counts up from 1

struct ReclaimRequest {
  std::unique_ptr<ReclaimTarget> target{};
  core::Bytes floor = 0;                // of anon + shmem: with this much left it is done
  std::chrono::milliseconds longest{};  // from when its turn comes
};

enum class ReclaimState {
  running,    // under way; more reports follow
  small,      // what is left is not above the floor
  stuck,      // several rounds in a row took nothing: no swap left, or none allowed
  cancelled,  // by cancel()
  timed_out,  // it took longer than the longest
  gone,       // the cgroup was removed
  failed,     // anything else: see error
};

struct ReclaimReport {
  ReclaimId id = 0;
  ReclaimState state = ReclaimState::running;
  core::Bytes moved = 0;  // by how much anon + shmem fell
  core::Bytes left = 0;   // of them
  int error = 0;          // errno of the last refusal, where one ended it (stuck, gone, failed)
  core::Microseconds took{0};

  bool operator==(const ReclaimReport&) const = default;
};

// How much to ask for next, after a chunk took this long: cancel() and the destructor wait for one chunk, on whatever
// disk the swap is. From 1 MiB to 256 MiB.
[[nodiscard]] core::Bytes next_chunk(core::Bytes chunk, core::Microseconds took);

// All functions are for the loop's thread. Requests are served one after the other, in their order.
class MemoryReclaimer {
 public:
  // Throws std::system_error when there is no descriptor or no thread to be had: at start or not at all.
  MemoryReclaimer();
  // Waits for the chunk under way; what was asked for ends without a report.
  ~MemoryReclaimer();
  MemoryReclaimer(const MemoryReclaimer&) = delete;
  MemoryReclaimer& operator=(const MemoryReclaimer&) = delete;

  // Every request ends in exactly one report that is not `running`.
  ReclaimId submit(ReclaimRequest request);
  // Takes effect before the next chunk; the report follows. One that has ended already, or never was, is no error.
  void cancel(ReclaimId id);

  // Readable (EPOLLIN) while take_reports() has something to give.
  [[nodiscard]] int fd() const { return ready_.get(); }
  // What has happened since the last call, oldest first; of a request under way only its newest `running`.
  [[nodiscard]] std::vector<ReclaimReport> take_reports();

 private:
  struct Task {
    ReclaimId id = 0;
    ReclaimRequest request{};
  };

  void serve(const std::stop_token& stop);
  [[nodiscard]] std::optional<Task> next_task(const std::stop_token& stop);
  [[nodiscard]] ReclaimReport move_out(const Task& task, const std::stop_token& stop);
  // Whether the task that is under way is to end. Waits up to `pause` for that.
  [[nodiscard]] bool ends_within(const std::stop_token& stop, std::chrono::milliseconds pause);
  void report(const ReclaimReport& report);
  void add_report(const ReclaimReport& report);  // with the mutex held

  UniqueFd ready_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Task> waiting_;
  std::vector<ReclaimReport> reports_;
  ReclaimId last_id_ = 0;
  ReclaimId serving_ = 0;  // 0: nobody
  bool cancelled_ = false;
  std::jthread thread_;  // last: it stops before what it uses goes
};

}  // namespace mljobd::kernel
