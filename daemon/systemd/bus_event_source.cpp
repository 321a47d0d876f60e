#include "systemd/bus_event_source.hpp"

#include <ctime>
#include <limits>
#include <system_error>
#include <utility>

#include <sys/epoll.h>

namespace mljobd::systemd {
namespace {

constexpr std::uint64_t no_timeout = std::numeric_limits<std::uint64_t>::max();
// A caller that floods the bus must not keep the timers and the watchdog waiting.
constexpr int messages_per_dispatch = 256;

void require(int result) {
  if (result < 0) throw std::system_error(-result, std::generic_category(), "attaching the bus to the event loop");
}

}  // namespace

BusEventSource::BusEventSource(EventLoop& loop, sdbus::IConnection& connection, std::function<void()> on_disconnected)
    : loop_(loop), connection_(connection), on_disconnected_(std::move(on_disconnected)) {
  const auto poll = connection.getEventLoopPollData();
  sd_event_source* source = nullptr;
  require(sd_event_add_io(loop.native(), &source, poll.fd, static_cast<std::uint32_t>(poll.events),
                          &BusEventSource::io_ready, this));
  io_.reset(source);
  require(sd_event_source_set_prepare(io_.get(), &BusEventSource::prepare));
  require(sd_event_add_time(loop.native(), &source, CLOCK_MONOTONIC, no_timeout, 1, &BusEventSource::timed_out, this));
  timer_.reset(source);
  require(sd_event_source_set_enabled(timer_.get(), SD_EVENT_OFF));
}

BusEventSource::~BusEventSource() = default;

// A synchronous call reads everything from the socket and queues what is not its answer, which poll() would never tell:
// libsystemd then gives a timeout of 0.
void BusEventSource::prepare_poll() {
  if (!connected_) return;
  sdbus::IConnection::PollData poll{};
  try {
    poll = connection_.getEventLoopPollData();
  } catch (const sdbus::Error&) {
    return disconnected();
  }
  require(sd_event_source_set_io_fd(io_.get(), poll.fd));
  require(sd_event_source_set_io_events(io_.get(), static_cast<std::uint32_t>(poll.events)));
  if (poll.timeout_usec == no_timeout) {
    require(sd_event_source_set_enabled(timer_.get(), SD_EVENT_OFF));
    return;
  }
  require(sd_event_source_set_time(timer_.get(), poll.timeout_usec));
  require(sd_event_source_set_enabled(timer_.get(), SD_EVENT_ONESHOT));
}

void BusEventSource::process() {
  if (!connected_) return;
  try {
    for (int count = 0; count < messages_per_dispatch && connection_.processPendingRequest(); ++count) {
    }
  } catch (const sdbus::Error&) {
    disconnected();
  }
}

void BusEventSource::disconnected() {
  connected_ = false;
  sd_event_source_set_enabled(io_.get(), SD_EVENT_OFF);
  sd_event_source_set_enabled(timer_.get(), SD_EVENT_OFF);
  if (on_disconnected_) on_disconnected_();
}

int BusEventSource::prepare(sd_event_source* /*source*/, void* userdata) {
  auto& self = *static_cast<BusEventSource*>(userdata);
  guarded([&](std::string_view what) { self.loop_.fail(what); }, [&] { self.prepare_poll(); });
  return 0;
}

int BusEventSource::io_ready(sd_event_source* /*source*/, int /*fd*/, std::uint32_t /*revents*/, void* userdata) {
  auto& self = *static_cast<BusEventSource*>(userdata);
  guarded([&](std::string_view what) { self.loop_.fail(what); }, [&] { self.process(); });
  return 0;
}

int BusEventSource::timed_out(sd_event_source* /*source*/, std::uint64_t /*usec*/, void* userdata) {
  auto& self = *static_cast<BusEventSource*>(userdata);
  guarded([&](std::string_view what) { self.loop_.fail(what); }, [&] { self.process(); });
  return 0;
}

}  // namespace mljobd::systemd
