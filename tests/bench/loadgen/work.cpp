#include "work.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace mljobd::load {
namespace {

constexpr std::size_t words_per_page = 4096 / sizeof(std::uint64_t);
// A step touches every 16th page, the next one those after them: 16 steps keep everything hot.
constexpr std::uint64_t page_stride = 16;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

// The same number of operations whatever the values, each needing the one before.
std::uint64_t compute(std::uint64_t seed, std::uint64_t iterations) {
  std::uint64_t state = seed | 1U;
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
  }
  return state;
}

// Written as well as read: a page that is only read would be dropped from memory without cost after it was swapped.
// Thread by thread over pages of its own; adding the step keeps the bytes incompressible.
std::uint64_t touch(std::span<std::uint64_t> words, std::uint64_t step, std::uint32_t thread, std::uint32_t threads) {
  std::uint64_t sum = 0;
  const std::uint64_t pages = words.size() / words_per_page;
  for (std::uint64_t page = step % page_stride + page_stride * thread; page < pages; page += page_stride * threads) {
    std::uint64_t& word = words[page * words_per_page];
    sum += word;
    word += step + 1;
  }
  return sum;
}

// Where the threads meet after each step. Those of OpenMP and of numeric libraries spin for a while before they sleep,
// which is quick where each has a CPU and burns the time of the one that is awaited where it has none.
class MeetingPoint {
 public:
  MeetingPoint(std::uint32_t threads, std::uint64_t spin_us, std::function<void()> when_met)
      : spin_(static_cast<std::int64_t>(spin_us)),
        when_met_(std::move(when_met)),
        barrier_(static_cast<std::ptrdiff_t>(threads), Completion{this}) {}

  void arrive_and_wait() {
    const std::uint64_t mine = meetings_.load(std::memory_order_acquire);
    auto token = barrier_.arrive();
    if (spin_.count() > 0) spin_until_met(mine);
    barrier_.wait(std::move(token));
  }

 private:
  struct Completion {
    MeetingPoint* point;
    void operator()() const noexcept {
      point->when_met_();
      point->meetings_.fetch_add(1, std::memory_order_release);
    }
  };

  void spin_until_met(std::uint64_t mine) const {
    constexpr int turns_per_look = 100;
    const auto end = Clock::now() + spin_;
    do {
      for (int turn = 0; turn < turns_per_look; ++turn) {
        if (meetings_.load(std::memory_order_acquire) != mine) return;
        pause_cpu();
      }
    } while (Clock::now() < end);
  }

  static void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  std::chrono::microseconds spin_;
  std::function<void()> when_met_;
  std::atomic<std::uint64_t> meetings_ = 0;
  std::barrier<Completion> barrier_;
};

// What the threads do at the end of each step, one of them for all.
class Timekeeper {
 public:
  explicit Timekeeper(const Options& options)
      : options_(options), start_(Clock::now()), last_(start_), next_(start_ + pace()) {}

  [[nodiscard]] bool finished() const {
    const bool enough = options_.steps && summary_.steps >= *options_.steps;
    const bool late = options_.seconds && seconds_between(start_, last_) >= *options_.seconds;
    return enough || late || (!options_.steps && !options_.seconds);
  }

  void step_done() {
    const auto now = Clock::now();
    ++summary_.steps;
    summary_.slowest_gap = std::max(summary_.slowest_gap, seconds_between(last_, now));
    summary_.seconds = seconds_between(start_, now);
    last_ = now;
    if (options_.progress) {
      std::printf("step %llu\n", static_cast<unsigned long long>(summary_.steps));
      std::fflush(stdout);
    }
    // Not when it is over: a pause after the last step is no part of the work.
    if (!finished()) std::this_thread::sleep_until(next_);
    next_ = std::max(next_, now) + pace();
  }

  [[nodiscard]] const Summary& summary() const { return summary_; }

 private:
  [[nodiscard]] std::chrono::milliseconds pace() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(options_.step_ms));
  }

  const Options& options_;
  Summary summary_{};
  Clock::time_point start_;
  Clock::time_point last_;
  Clock::time_point next_;
};

}  // namespace

void grow_to_bound(ResidentMemory& memory, const Options& options) {
  if (options.ramp == 0) {
    memory.grow(memory.bound());
    return;
  }
  constexpr std::uint64_t pieces_per_second = 20;
  const std::uint64_t piece = std::max<std::uint64_t>(options.ramp / pieces_per_second, sizeof(std::uint64_t));
  auto due = Clock::now();
  while (memory.size() < memory.bound()) {
    memory.grow(piece);
    // From when it was due, not from now: a stall is caught up with, as a program with work to do would.
    due += std::chrono::milliseconds(1000 / pieces_per_second);
    std::this_thread::sleep_until(due);
  }
}

Summary run_steps(const ResidentMemory& memory, const Options& options) {
  Timekeeper timekeeper(options);
  if (timekeeper.finished()) return {};
  std::atomic<std::uint64_t> checksum = 0;
  std::atomic<bool> stop = false;
  MeetingPoint meeting(options.threads, options.spin_us, [&] {
    timekeeper.step_done();
    stop = timekeeper.finished();
  });
  const auto work = [&](std::uint32_t thread) {
    std::uint64_t sum = 0;
    for (std::uint64_t step = 0; !stop; ++step) {
      sum += compute(step * options.threads + thread, options.work);
      sum += touch(memory.words(), step, thread, options.threads);
      meeting.arrive_and_wait();
    }
    checksum += sum;
  };
  std::vector<std::thread> others;
  for (std::uint32_t thread = 1; thread < options.threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (auto& other : others) other.join();
  Summary summary = timekeeper.summary();
  summary.checksum = checksum;
  return summary;
}

std::string to_json(const Summary& summary, std::uint64_t memory) {
  const double per_second = summary.seconds > 0 ? static_cast<double>(summary.steps) / summary.seconds : 0;
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(),
                R"({"steps": %llu, "seconds": %.3f, "steps_per_second": %.3f, "slowest_gap_seconds": %.3f, )"
                R"("memory_bytes": %llu, "checksum": "%016llx"})",
                static_cast<unsigned long long>(summary.steps), summary.seconds, per_second, summary.slowest_gap,
                static_cast<unsigned long long>(memory), static_cast<unsigned long long>(summary.checksum));
  return line.data();
}

}  // namespace mljobd::load
