#include "systemd/event_loop.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include <sys/epoll.h>

namespace mljobd::systemd {
namespace {

constexpr std::uint64_t timer_accuracy_usec = 20'000;
constexpr auto longest_deferral = std::chrono::milliseconds(50);

void require(int result, const char* what) {
  if (result < 0) throw std::system_error(-result, std::generic_category(), what);
}

core::Microseconds read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::duration_cast<core::Microseconds>(std::chrono::seconds(time.tv_sec) +
                                                        std::chrono::nanoseconds(time.tv_nsec));
}

core::BootTime boot_now() { return core::BootTime(read_clock(CLOCK_BOOTTIME)); }

}  // namespace

struct EventLoop::SignalHandler {
  EventLoop& loop;
  std::function<void()> callback;
  EventSource source{};
};

EventLoop::EventLoop() {
  sd_event* event = nullptr;
  require(sd_event_new(&event), "creating the event loop");
  event_.reset(event);
}

EventLoop::~EventLoop() = default;

int EventLoop::run() {
  const int code = sd_event_loop(event_.get());
  return code < 0 ? EXIT_FAILURE : code;
}

void EventLoop::exit(int code) { sd_event_exit(event_.get(), code); }

void EventLoop::fail(std::string_view what) noexcept {
  if (failure_handler_) {
    try {
      failure_handler_(what);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the loop ends with a failure all the same
    }
  }
  sd_event_exit(event_.get(), EXIT_FAILURE);
}

std::unique_ptr<EventLoop::Timer> EventLoop::make_timer(std::function<void()> callback) {
  return std::make_unique<Timer>(*this, std::move(callback));
}

std::unique_ptr<EventLoop::Deferred> EventLoop::make_deferred(std::function<void()> callback) {
  return std::make_unique<Deferred>(*this, std::move(callback));
}

std::unique_ptr<EventLoop::Watch> EventLoop::make_watch(int fd, std::uint32_t events, WatchCallback callback) {
  return std::make_unique<Watch>(*this, fd, events, std::move(callback));
}

void EventLoop::on_signal(int signo, std::function<void()> callback) {
  auto handler =
      std::make_unique<SignalHandler>(SignalHandler{.loop = *this, .callback = std::move(callback), .source = nullptr});
  sd_event_source* source = nullptr;
  const auto dispatch = [](sd_event_source*, const signalfd_siginfo*, void* userdata) {
    auto& received = *static_cast<SignalHandler*>(userdata);
    guarded([&](std::string_view what) { received.loop.fail(what); }, received.callback);
    return 0;
  };
  require(sd_event_add_signal(event_.get(), &source, signo | SD_EVENT_SIGNAL_PROCMASK, dispatch, handler.get()),
          "watching a signal");
  handler->source.reset(source);
  signal_handlers_.push_back(std::move(handler));
}

void EventLoop::enable_watchdog() { require(sd_event_set_watchdog(event_.get(), 1), "answering the watchdog"); }

core::Now EventLoop::now() const { return {.real = core::RealTime(read_clock(CLOCK_REALTIME)), .boot = boot_now()}; }

EventLoop::Timer::Timer(EventLoop& loop, std::function<void()> callback) : loop_(loop), callback_(std::move(callback)) {
  sd_event_source* source = nullptr;
  require(sd_event_add_time(loop.native(), &source, CLOCK_BOOTTIME, 0, timer_accuracy_usec, &Timer::dispatch, this),
          "creating a timer");
  source_.reset(source);
  require(sd_event_source_set_enabled(source, SD_EVENT_OFF), "creating a timer");
}

EventLoop::Timer::~Timer() = default;

void EventLoop::Timer::arm(core::BootTime at) {
  const auto usec = std::max<std::int64_t>(at.time_since_epoch().count(), 0);
  sd_event_source_set_time(source_.get(), static_cast<std::uint64_t>(usec));
  sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT);
}

void EventLoop::Timer::disarm() { sd_event_source_set_enabled(source_.get(), SD_EVENT_OFF); }

bool EventLoop::Timer::armed() const { return sd_event_source_get_enabled(source_.get(), nullptr) > 0; }

int EventLoop::Timer::dispatch(sd_event_source* /*source*/, std::uint64_t /*usec*/, void* userdata) {
  auto& timer = *static_cast<Timer*>(userdata);
  guarded([&](std::string_view what) { timer.loop_.fail(what); }, timer.callback_);
  return 0;
}

EventLoop::Deferred::Deferred(EventLoop& loop, std::function<void()> callback)
    : loop_(loop), callback_(std::move(callback)) {
  sd_event_source* source = nullptr;
  require(sd_event_add_defer(loop.native(), &source, &Deferred::dispatch, this), "creating a deferred call");
  source_.reset(source);
  require(sd_event_source_set_enabled(source, SD_EVENT_OFF), "creating a deferred call");
  require(sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IDLE), "creating a deferred call");
  require(sd_event_source_set_prepare(source, &Deferred::prepare), "creating a deferred call");
}

EventLoop::Deferred::~Deferred() = default;

void EventLoop::Deferred::schedule() {
  if (sd_event_source_get_enabled(source_.get(), nullptr) > 0) return;
  scheduled_ = boot_now();
  sd_event_source_set_priority(source_.get(), SD_EVENT_PRIORITY_IDLE);
  sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT);
}

void EventLoop::Deferred::cancel() { sd_event_source_set_enabled(source_.get(), SD_EVENT_OFF); }

// sd-event prefers whatever has the higher priority, for ever: a caller that keeps the bus busy would keep this from
// running at all.
int EventLoop::Deferred::prepare(sd_event_source* source, void* userdata) {
  const auto& deferred = *static_cast<const Deferred*>(userdata);
  if (boot_now() - deferred.scheduled_ > longest_deferral) {
    sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT);
  }
  return 0;
}

int EventLoop::Deferred::dispatch(sd_event_source* /*source*/, void* userdata) {
  auto& deferred = *static_cast<Deferred*>(userdata);
  guarded([&](std::string_view what) { deferred.loop_.fail(what); }, deferred.callback_);
  return 0;
}

EventLoop::Watch::Watch(EventLoop& loop, int fd, std::uint32_t events, WatchCallback callback)
    : loop_(loop), callback_(std::move(callback)) {
  sd_event_source* source = nullptr;
  require(sd_event_add_io(loop.native(), &source, fd, events, &Watch::dispatch, this), "watching a descriptor");
  source_.reset(source);
}

EventLoop::Watch::~Watch() = default;

void EventLoop::Watch::enable() {
  require(sd_event_source_set_enabled(source_.get(), SD_EVENT_ON), "watching a descriptor");
}

void EventLoop::Watch::disable() { sd_event_source_set_enabled(source_.get(), SD_EVENT_OFF); }

bool EventLoop::Watch::enabled() const { return sd_event_source_get_enabled(source_.get(), nullptr) > 0; }

int EventLoop::Watch::dispatch(sd_event_source* /*source*/, int /*fd*/, std::uint32_t events, void* userdata) {
  auto& watch = *static_cast<Watch*>(userdata);
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) watch.disable();
  guarded([&](std::string_view what) { watch.loop_.fail(what); }, [&] { watch.callback_(events); });
  return 0;
}

}  // namespace mljobd::systemd
