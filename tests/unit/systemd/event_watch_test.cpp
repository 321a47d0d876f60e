#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kernel/memory_reclaimer.hpp"
#include "kernel/unique_fd.hpp"
#include "systemd/event_loop.hpp"

using namespace mljobd;
using namespace std::chrono_literals;
using kernel::UniqueFd;
using systemd::EventLoop;

namespace {

UniqueFd make_eventfd() { return UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void add_one(const UniqueFd& fd) { REQUIRE(::eventfd_write(fd.get(), 1) == 0); }

std::uint64_t take(const UniqueFd& fd) {
  eventfd_t value = 0;
  (void)::eventfd_read(fd.get(), &value);
  return value;
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe");
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }
  UniqueFd reader{};
  UniqueFd writer{};
};

// Runs the loop for a while: long enough for thousands of turns if something keeps it busy.
void run_for(EventLoop& loop, std::chrono::milliseconds time) {
  const auto end = loop.make_timer([&] { loop.exit(0); });
  end->arm(loop.now().boot + time);
  REQUIRE(loop.run() == 0);
}

}  // namespace

TEST_CASE("a watch tells what came in, each time") {
  EventLoop loop;
  const UniqueFd fd = make_eventfd();
  std::uint64_t received = 0;
  int calls = 0;
  const auto watch = loop.make_watch(fd.get(), EPOLLIN, [&](std::uint32_t events) {
    CHECK(events == EPOLLIN);
    received += take(fd);
    if (++calls == 1) return add_one(fd);
    loop.exit(0);
  });
  CHECK(watch->enabled());
  add_one(fd);
  CHECK(loop.run() == 0);
  CHECK(received == 2);
  CHECK(calls == 2);
}

TEST_CASE("a watch that is off tells nothing, and what came meanwhile when it is on again") {
  EventLoop loop;
  const UniqueFd fd = make_eventfd();
  int calls = 0;
  const auto watch = loop.make_watch(fd.get(), EPOLLIN, [&](std::uint32_t) {
    ++calls;
    loop.exit(0);
  });
  add_one(fd);
  watch->disable();
  CHECK_FALSE(watch->enabled());
  const auto later = loop.make_timer([&] {
    CHECK(calls == 0);
    watch->enable();
  });
  later->arm(loop.now().boot + 30ms);
  CHECK(loop.run() == 0);
  CHECK(calls == 1);
}

TEST_CASE("its own callback can turn a watch off") {
  EventLoop loop;
  const UniqueFd fd = make_eventfd();
  int calls = 0;
  std::unique_ptr<EventLoop::Watch> watch;
  watch = loop.make_watch(fd.get(), EPOLLIN, [&](std::uint32_t) {
    ++calls;  // and leaves what came in where it is
    watch->disable();
  });
  add_one(fd);
  run_for(loop, 50ms);
  CHECK(calls == 1);
}

// What a PSI trigger does when its cgroup is removed: EPOLLERR, asked for or not, for ever.
TEST_CASE("a descriptor that died is told once and does not keep the loop busy") {
  EventLoop loop;
  Pipe pipe;
  int calls = 0;
  std::uint32_t told = 0;
  const auto watch = loop.make_watch(pipe.writer.get(), EPOLLPRI, [&](std::uint32_t events) {
    ++calls;
    told = events;
  });
  pipe.reader.reset();
  run_for(loop, 50ms);
  CHECK(calls == 1);
  CHECK((told & EPOLLERR) != 0);
  CHECK_FALSE(watch->enabled());
}

TEST_CASE("the last of what the other side wrote comes with its end") {
  EventLoop loop;
  Pipe pipe;
  std::string received;
  const auto watch = loop.make_watch(pipe.reader.get(), EPOLLIN, [&](std::uint32_t events) {
    CHECK((events & EPOLLHUP) != 0);
    std::array<char, 16> buffer{};
    const ssize_t got = ::read(pipe.reader.get(), buffer.data(), buffer.size());
    if (got > 0) received.append(buffer.data(), static_cast<std::size_t>(got));
  });
  REQUIRE(::write(pipe.writer.get(), "last", 4) == 4);
  pipe.writer.reset();
  run_for(loop, 50ms);
  CHECK(received == "last");
  CHECK_FALSE(watch->enabled());
}

TEST_CASE("a watch that is gone calls nobody") {
  EventLoop loop;
  const UniqueFd fd = make_eventfd();
  int calls = 0;
  auto watch = loop.make_watch(fd.get(), EPOLLIN, [&](std::uint32_t) { ++calls; });
  add_one(fd);
  watch.reset();
  run_for(loop, 20ms);
  CHECK(calls == 0);
}

TEST_CASE("what the reclaiming thread has done is told on the loop's") {
  struct SmallJob : kernel::ReclaimTarget {
    kernel::FileExpected<kernel::HeldMemory> look() override { return kernel::HeldMemory{}; }
    int reclaim(core::Bytes) override { return 0; }
  };
  EventLoop loop;
  kernel::MemoryReclaimer reclaimer;
  std::thread::id told_on;
  std::vector<kernel::ReclaimReport> reports;
  const auto watch = loop.make_watch(reclaimer.fd(), EPOLLIN, [&](std::uint32_t) {
    told_on = std::this_thread::get_id();
    for (const auto& report : reclaimer.take_reports()) reports.push_back(report);
    if (reports.size() == 2) loop.exit(0);
  });
  for (int count = 0; count < 2; ++count) {
    (void)reclaimer.submit({.target = std::make_unique<SmallJob>(), .floor = 0, .longest = 1s});
  }
  CHECK(loop.run() == 0);
  CHECK(told_on == std::this_thread::get_id());
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].id == 1);
  CHECK(reports[1].state == kernel::ReclaimState::small);
}

TEST_CASE("an exception in a watch ends the loop with a failure") {
  EventLoop loop;
  std::string reported;
  loop.on_failure([&](std::string_view what) { reported = what; });
  const UniqueFd fd = make_eventfd();
  const auto watch = loop.make_watch(fd.get(), EPOLLIN, [](std::uint32_t) { throw std::runtime_error("half done"); });
  add_one(fd);
  CHECK(loop.run() == EXIT_FAILURE);
  CHECK(reported == "half done");
}

TEST_CASE("what cannot be watched is refused at once") {
  EventLoop loop;
  const auto ignore = [](std::uint32_t) {};
  CHECK_THROWS_AS(loop.make_watch(-1, EPOLLIN, ignore), std::system_error);
  UniqueFd fd = make_eventfd();
  const int number = fd.get();
  fd.reset();
  CHECK_THROWS_AS(loop.make_watch(number, EPOLLIN, ignore), std::system_error);
}
