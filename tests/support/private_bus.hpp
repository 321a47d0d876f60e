// A message bus of a test's own, and running the test's event loop until what it waits for has happened.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <sdbus-c++/sdbus-c++.h>
#include <sys/types.h>

#include "systemd/event_loop.hpp"

namespace mljobd::test {

// Removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Its own configuration: everybody may do everything, and no name is started on demand, whatever is installed here.
class PrivateBus {
 public:
  PrivateBus();
  ~PrivateBus();
  PrivateBus(const PrivateBus&) = delete;
  PrivateBus& operator=(const PrivateBus&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::unique_ptr<sdbus::IConnection> connect() const {
    return sdbus::createSessionBusConnectionWithAddress(address_);
  }
  void end();

 private:
  TemporaryDirectory directory_;
  pid_t daemon_ = -1;
  std::string address_;
};

// Runs the loop until the condition holds; false when it did not within half a minute.
bool run_until(systemd::EventLoop& loop, const std::function<bool()>& condition);
// Lets everything that is under way arrive.
void settle(systemd::EventLoop& loop);

}  // namespace mljobd::test
