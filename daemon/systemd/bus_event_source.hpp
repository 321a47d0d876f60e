// Lets the event loop drive a D-Bus connection; sdbus-c++ 1.2 has no attachSdEventLoop yet.
#pragma once

#include <cstdint>
#include <functional>

#include <sdbus-c++/sdbus-c++.h>
#include <sys/types.h>

#include "systemd/event_loop.hpp"

namespace mljobd::systemd {

// The connection must not have an event loop of its own running, and must outlive this.
class BusEventSource {
 public:
  // on_disconnected is called once, when the bus has gone away; calls in flight have been answered by errors before.
  BusEventSource(EventLoop& loop, sdbus::IConnection& connection, std::function<void()> on_disconnected);
  ~BusEventSource();
  BusEventSource(const BusEventSource&) = delete;
  BusEventSource& operator=(const BusEventSource&) = delete;

 private:
  static int prepare(sd_event_source* source, void* userdata);
  static int io_ready(sd_event_source* source, int fd, std::uint32_t revents, void* userdata);
  static int timed_out(sd_event_source* source, std::uint64_t usec, void* userdata);

  void prepare_poll();
  void process();
  void disconnected();

  EventLoop& loop_;
  sdbus::IConnection& connection_;
  std::function<void()> on_disconnected_;
  EventSource io_;
  EventSource timer_;
  bool connected_ = true;
};

}  // namespace mljobd::systemd
