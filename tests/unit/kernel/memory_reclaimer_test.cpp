#include "kernel/memory_reclaimer.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <semaphore>
#include <string>

#include <catch2/catch.hpp>
#include <poll.h>
#include <pthread.h>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

using namespace std::chrono_literals;
using core::Bytes;

constexpr Bytes mebibyte = Bytes{1024} * 1024;
constexpr auto long_enough = 60s;

// What the test sees of a job after the target that stands for it has gone.
struct Job {
  Bytes anon = 0;
  Bytes cache = 0;
  std::vector<Bytes> asked{};
  // Takes memory from the job as the kernel would; gives errno.
  std::function<int(Job&, Bytes)> kernel = [](Job& job, Bytes amount) {
    job.anon -= std::min(job.anon, amount);
    return 0;
  };
  int look_error = 0;
};

class FakeTarget : public ReclaimTarget {
 public:
  explicit FakeTarget(Job& job) : job_(job) {}
  FileExpected<HeldMemory> look() override {
    if (job_.look_error != 0) return file_failure("read", "memory.current", job_.look_error);
    return HeldMemory{.current = job_.anon + job_.cache, .swappable = job_.anon};
  }
  int reclaim(Bytes amount) override {
    job_.asked.push_back(amount);
    return job_.kernel(job_, amount);
  }

 private:
  Job& job_;
};

ReclaimRequest request_for(Job& job, Bytes floor = 0, std::chrono::milliseconds longest = long_enough) {
  return {.target = std::make_unique<FakeTarget>(job), .floor = floor, .longest = longest};
}

// The next reports, waited for as the loop does.
std::vector<ReclaimReport> wait_for_reports(MemoryReclaimer& reclaimer) {
  struct pollfd ready{.fd = reclaimer.fd(), .events = POLLIN, .revents = 0};
  constexpr int half_a_minute = 30'000;
  REQUIRE(::poll(&ready, 1, half_a_minute) == 1);
  return reclaimer.take_reports();
}

ReclaimReport wait_for_end(MemoryReclaimer& reclaimer, ReclaimId id) {
  while (true) {
    for (const auto& report : wait_for_reports(reclaimer)) {
      if (report.state == ReclaimState::running) continue;
      CHECK(report.id == id);
      return report;
    }
  }
}

ReclaimReport move_out(ReclaimRequest request) {
  MemoryReclaimer reclaimer;
  const ReclaimId id = reclaimer.submit(std::move(request));
  return wait_for_end(reclaimer, id);
}

TEST_CASE("a job's memory is moved out down to the floor, and no further") {
  Job job{.anon = 100 * mebibyte, .cache = 0};
  const auto end = move_out(request_for(job, 10 * mebibyte));
  CHECK(end.state == ReclaimState::small);
  CHECK(end.moved == 90 * mebibyte);
  CHECK(end.left == 10 * mebibyte);
  CHECK(end.error == 0);
  CHECK(job.anon == 10 * mebibyte);
  CHECK(job.asked.size() >= 3);
}

TEST_CASE("a job that is small already is left alone") {
  Job job{.anon = mebibyte};
  CHECK(move_out(request_for(job, mebibyte)).state == ReclaimState::small);
  CHECK(job.asked.empty());
}

TEST_CASE("page cache that goes first counts as getting on") {
  Job job{.anon = 8 * mebibyte, .cache = 20 * 16 * mebibyte};
  job.kernel = [](Job& held, Bytes amount) {
    Bytes& from = held.cache > 0 ? held.cache : held.anon;
    from -= std::min(from, amount);
    return held.cache > 0 ? EAGAIN : 0;
  };
  const auto end = move_out(request_for(job));
  CHECK(end.state == ReclaimState::small);
  CHECK(end.moved == 8 * mebibyte);
}

TEST_CASE("without room in swap it gives up after a few rounds and says why") {
  Job job{.anon = 100 * mebibyte};
  job.kernel = [](Job& held, Bytes) {
    if (held.anon > 60 * mebibyte) held.anon = 60 * mebibyte;
    return EAGAIN;
  };
  const auto end = move_out(request_for(job));
  CHECK(end.state == ReclaimState::stuck);
  CHECK(end.error == EAGAIN);
  CHECK(end.moved == 40 * mebibyte);
  CHECK(end.left == 60 * mebibyte);
  CHECK(job.asked.size() == 6);  // one that took some, five that took none
}

TEST_CASE("a job that takes back what is moved out does not keep it busy for ever") {
  Job job{.anon = 100 * mebibyte};
  job.kernel = [](Job&, Bytes) { return 0; };
  const auto end = move_out(request_for(job));
  CHECK(end.state == ReclaimState::stuck);
  CHECK(end.error == 0);
}

TEST_CASE("a cgroup that goes ends its request") {
  Job job{.anon = 100 * mebibyte};
  job.kernel = [](Job&, Bytes) { return ENODEV; };
  CHECK(move_out(request_for(job)).state == ReclaimState::gone);
  Job removed{.anon = 1, .look_error = ENODEV};
  const auto end = move_out(request_for(removed));
  CHECK(end.state == ReclaimState::gone);
  CHECK(end.error == ENODEV);
  CHECK(removed.asked.empty());
}

TEST_CASE("any other refusal fails with its errno") {
  Job job{.anon = 100 * mebibyte};
  job.kernel = [](Job&, Bytes) { return EINVAL; };
  const auto end = move_out(request_for(job));
  CHECK(end.state == ReclaimState::failed);
  CHECK(end.error == EINVAL);
  CHECK(job.asked.size() == 1);
}

TEST_CASE("what takes too long is ended with what it moved") {
  Job job{.anon = Bytes{1} << 60};
  job.kernel = [](Job& held, Bytes amount) {
    std::this_thread::sleep_for(1ms);
    held.anon -= amount;
    return 0;
  };
  const auto end = move_out(request_for(job, 0, 50ms));
  CHECK(end.state == ReclaimState::timed_out);
  CHECK(end.took >= 50ms);
  CHECK(end.moved > 0);
  CHECK(end.moved + end.left == Bytes{1} << 60);
}

TEST_CASE("progress is told on the way, the newest only") {
  Job job{.anon = 64 * mebibyte};
  std::binary_semaphore taken{0};
  std::binary_semaphore go_on{0};
  job.kernel = [&](Job& held, Bytes amount) {
    held.anon -= std::min(held.anon, amount);
    taken.release();
    go_on.acquire();
    return 0;
  };
  MemoryReclaimer reclaimer;
  const ReclaimId id = reclaimer.submit(request_for(job));
  taken.acquire();
  go_on.release();
  taken.acquire();
  const auto reports = wait_for_reports(reclaimer);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].id == id);
  CHECK(reports[0].state == ReclaimState::running);
  CHECK(reports[0].moved == 16 * mebibyte);
  CHECK(reports[0].left == 48 * mebibyte);
  CHECK(reclaimer.take_reports().empty());
  reclaimer.cancel(id);
  go_on.release();
  CHECK(wait_for_end(reclaimer, id).state == ReclaimState::cancelled);
}

TEST_CASE("cancelling takes effect before the next chunk") {
  Job job{.anon = Bytes{1} << 40};
  std::binary_semaphore in_kernel{0};
  std::binary_semaphore go_on{0};
  job.kernel = [&](Job& held, Bytes amount) {
    in_kernel.release();
    go_on.acquire();
    held.anon -= amount;
    return 0;
  };
  MemoryReclaimer reclaimer;
  const ReclaimId id = reclaimer.submit(request_for(job));
  in_kernel.acquire();
  reclaimer.cancel(id);
  go_on.release();
  const auto end = wait_for_end(reclaimer, id);
  CHECK(end.state == ReclaimState::cancelled);
  CHECK(end.moved == job.asked.front());
  CHECK(job.asked.size() == 1);
  reclaimer.cancel(id);  // has ended: no second report
  reclaimer.cancel(4711);
  CHECK(reclaimer.take_reports().empty());
}

TEST_CASE("a request that waits can be cancelled, and the next has its turn") {
  Job first{.anon = mebibyte};
  Job second{.anon = mebibyte};
  Job third{.anon = mebibyte};
  std::binary_semaphore in_kernel{0};
  std::binary_semaphore go_on{0};
  std::atomic<int> busy = 0;
  std::atomic<int> most_busy = 0;
  const auto kernel = [&](Job& held, Bytes) {
    most_busy = std::max(most_busy.load(), ++busy);
    in_kernel.release();
    go_on.acquire();
    held.anon = 0;
    --busy;
    return 0;
  };
  first.kernel = second.kernel = third.kernel = kernel;
  MemoryReclaimer reclaimer;
  const ReclaimId one = reclaimer.submit(request_for(first));
  in_kernel.acquire();
  const ReclaimId two = reclaimer.submit(request_for(second));
  const ReclaimId three = reclaimer.submit(request_for(third));
  reclaimer.cancel(two);
  CHECK(wait_for_end(reclaimer, two).state == ReclaimState::cancelled);
  go_on.release();
  CHECK(wait_for_end(reclaimer, one).state == ReclaimState::small);
  in_kernel.acquire();
  go_on.release();
  CHECK(wait_for_end(reclaimer, three).state == ReclaimState::small);
  CHECK(second.asked.empty());
  CHECK(most_busy == 1);
}

TEST_CASE("the end of the daemon waits for one chunk, not for the jobs") {
  Job busy{.anon = Bytes{1} << 60};
  Job waiting{.anon = mebibyte};
  std::binary_semaphore in_kernel{0};
  busy.kernel = [&](Job& held, Bytes amount) {
    if (held.asked.size() == 1) in_kernel.release();
    std::this_thread::sleep_for(1ms);
    held.anon -= amount;
    return 0;
  };
  {
    MemoryReclaimer reclaimer;
    (void)reclaimer.submit(request_for(busy));
    (void)reclaimer.submit(request_for(waiting));
    in_kernel.acquire();
  }
  CHECK_FALSE(busy.asked.empty());
  CHECK(waiting.asked.empty());
  Job stuck{.anon = mebibyte};
  stuck.kernel = [&](Job& held, Bytes) {
    if (held.asked.size() == 1) in_kernel.release();
    return EAGAIN;
  };
  {
    MemoryReclaimer reclaimer;
    (void)reclaimer.submit(request_for(stuck));
    in_kernel.acquire();
  }
  CHECK_FALSE(stuck.asked.empty());
  const MemoryReclaimer never_used;
}

TEST_CASE("its thread takes none of the daemon's signals") {
  Job job{.anon = mebibyte};
  sigset_t blocked;
  sigemptyset(&blocked);
  job.kernel = [&](Job& held, Bytes) {
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    held.anon = 0;
    return 0;
  };
  CHECK(move_out(request_for(job)).state == ReclaimState::small);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) CHECK(sigismember(&blocked, number) == 1);
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  CHECK(sigismember(&own, SIGTERM) == 0);
}

TEST_CASE("the chunk follows the disk, so that to cancel is quick on any") {
  CHECK(next_chunk(16 * mebibyte, 10ms) == 32 * mebibyte);
  CHECK(next_chunk(16 * mebibyte, 100ms) == 16 * mebibyte);
  CHECK(next_chunk(16 * mebibyte, 900ms) == 8 * mebibyte);
  CHECK(next_chunk(256 * mebibyte, 0ms) == 256 * mebibyte);
  CHECK(next_chunk(mebibyte, 10s) == mebibyte);
  // Any disk that writes 5 MiB/s or more is left at a chunk of a fifth of a second or less.
  for (const Bytes speed : {5 * mebibyte, 100 * mebibyte, 500 * mebibyte}) {
    Bytes chunk = 16 * mebibyte;
    const auto took = [&] { return std::chrono::microseconds(chunk * 1'000'000 / speed); };
    for (int round = 0; round < 20; ++round) chunk = next_chunk(chunk, took());
    CHECK(took() <= 200ms);
  }
}

}  // namespace
}  // namespace mljobd::kernel
