#include "systemd/event_loop.hpp"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

using namespace mljobd;
using namespace std::chrono_literals;
using systemd::EventLoop;

TEST_CASE("timers fire in the order of their times, once") {
  EventLoop loop;
  std::string order;
  const auto last = loop.make_timer([&] {
    order += 'c';
    loop.exit(7);
  });
  const auto second = loop.make_timer([&] { order += 'b'; });
  const auto first = loop.make_timer([&] { order += 'a'; });
  const auto disarmed = loop.make_timer([&] { order += 'x'; });
  const auto now = loop.now().boot;
  last->arm(now + 150ms);
  second->arm(now + 60ms);
  first->arm(now - 1s);
  disarmed->arm(now + 10ms);
  disarmed->disarm();
  CHECK(first->armed());
  CHECK_FALSE(disarmed->armed());
  CHECK(loop.run() == 7);
  CHECK(order == "abc");
  CHECK_FALSE(first->armed());
  CHECK(loop.now().boot >= now + 150ms);
}

TEST_CASE("a deferred call comes after what was ready with it, once for many requests") {
  EventLoop loop;
  std::string order;
  const auto deferred = loop.make_deferred([&] { order += 'd'; });
  const auto end = loop.make_timer([&] { loop.exit(0); });
  const auto one = loop.make_timer([&] {
    deferred->schedule();
    order += '1';
  });
  const auto two = loop.make_timer([&] {
    deferred->schedule();
    order += '2';
    end->arm(loop.now().boot + 50ms);
  });
  one->arm(loop.now().boot);
  two->arm(loop.now().boot);
  CHECK(loop.run() == 0);
  CHECK(order.size() == 3);
  CHECK(order.back() == 'd');
}

TEST_CASE("a flood of events delays a deferred call, but does not stop it") {
  EventLoop loop;
  bool ran = false;
  const auto deferred = loop.make_deferred([&] {
    ran = true;
    loop.exit(0);
  });
  const auto start = loop.now().boot;
  std::unique_ptr<EventLoop::Timer> flood;
  flood = loop.make_timer([&] {
    if (loop.now().boot - start > 5s) loop.exit(1);
    flood->arm(start);
  });
  flood->arm(start);
  deferred->schedule();
  CHECK(loop.run() == 0);
  CHECK(ran);
}

TEST_CASE("an exception in a callback is reported and ends the loop with a failure") {
  EventLoop loop;
  std::string reported;
  loop.on_failure([&](std::string_view what) { reported = what; });
  const auto timer = loop.make_timer([] { throw std::runtime_error("half done"); });
  timer->arm(loop.now().boot);
  CHECK(loop.run() == EXIT_FAILURE);
  CHECK(reported == "half done");
}

TEST_CASE("signals arrive in the loop instead of ending the process") {
  EventLoop loop;
  int received = 0;
  loop.on_signal(SIGHUP, [&] {
    ++received;
    loop.exit(0);
  });
  std::raise(SIGHUP);
  CHECK(loop.run() == 0);
  CHECK(received == 1);
}
