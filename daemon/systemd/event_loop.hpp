// The one event loop of the daemon: sd_event with C++ callbacks, of which none may let an exception reach C.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "core/types.hpp"
#include "systemd/guard.hpp"

namespace mljobd::systemd {

struct EventSourceDeleter {
  void operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }
};
using EventSource = std::unique_ptr<sd_event_source, EventSourceDeleter>;

// Constructors and make_… throw std::system_error when the kernel has no more descriptors or memory: that happens at
// start or not at all. The loop must outlive what it made.
class EventLoop {
 public:
  class Timer;
  class Deferred;
  class Watch;
  // Told what is to be had, as epoll(7) names it.
  using WatchCallback = std::function<void(std::uint32_t events)>;

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Until exit(); its code, or EXIT_FAILURE when the loop itself failed.
  [[nodiscard]] int run();
  void exit(int code);
  [[nodiscard]] sd_event* native() const { return event_.get(); }

  // An exception that escaped a callback left something half done: it is reported here, and the loop ends with
  // EXIT_FAILURE, for a daemon that restarts and reconciles knows its state again.
  void on_failure(FailureHandler handler) { failure_handler_ = std::move(handler); }
  void fail(std::string_view what) noexcept;

  [[nodiscard]] std::unique_ptr<Timer> make_timer(std::function<void()> callback);
  [[nodiscard]] std::unique_ptr<Deferred> make_deferred(std::function<void()> callback);
  // `fd` stays the caller's, who closes it after the watch is gone.
  [[nodiscard]] std::unique_ptr<Watch> make_watch(int fd, std::uint32_t events, WatchCallback callback);
  // Blocks the signal for this thread and those it starts from now on.
  void on_signal(int signo, std::function<void()> callback);
  // Answers systemd's watchdog, where the unit has WatchdogSec=.
  void enable_watchdog();
  // Read from the clocks, not the time at which the loop woke up.
  [[nodiscard]] core::Now now() const;

 private:
  struct EventDeleter {
    void operator()(sd_event* event) const { sd_event_unref(event); }
  };
  struct SignalHandler;

  std::unique_ptr<sd_event, EventDeleter> event_;
  FailureHandler failure_handler_;
  std::vector<std::unique_ptr<SignalHandler>> signal_handlers_;
};

// One-shot, on CLOCK_BOOTTIME. Disarmed it costs nothing; its callback may arm it again, and may not destroy it.
class EventLoop::Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> callback);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // A moment that has passed fires in the next iteration. Fires at most 20 ms late by itself, so that timers meet.
  void arm(core::BootTime at);
  void disarm();
  [[nodiscard]] bool armed() const;

 private:
  static int dispatch(sd_event_source* source, std::uint64_t usec, void* userdata);

  EventLoop& loop_;
  std::function<void()> callback_;
  EventSource source_;
};

// Runs once, after everything that is ready now; a stream of events postpones it by no more than 50 ms.
class EventLoop::Deferred {
 public:
  Deferred(EventLoop& loop, std::function<void()> callback);
  ~Deferred();
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  void schedule();
  void cancel();

 private:
  static int prepare(sd_event_source* source, void* userdata);
  static int dispatch(sd_event_source* source, void* userdata);

  EventLoop& loop_;
  std::function<void()> callback_;
  EventSource source_;
  core::BootTime scheduled_{};
};

// Calls back while a descriptor has one of the events asked for (EPOLLIN, EPOLLPRI). An error or the other side's end
// (EPOLLERR, EPOLLHUP) comes without being asked for, and without end: the watch turns itself off before it tells them,
// for a descriptor that is dead must not keep the loop busy. The callback may turn it off, but not destroy it.
class EventLoop::Watch {
 public:
  Watch(EventLoop& loop, int fd, std::uint32_t events, WatchCallback callback);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void enable();
  void disable();
  [[nodiscard]] bool enabled() const;

 private:
  static int dispatch(sd_event_source* source, int fd, std::uint32_t events, void* userdata);

  EventLoop& loop_;
  WatchCallback callback_;
  EventSource source_;
};

}  // namespace mljobd::systemd
