// mljobd as a child process, with its folders below one folder.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <sys/types.h>

namespace mljobd::test {

class DaemonProcess {
 public:
  DaemonProcess(const std::string& bus_address, const std::string& directory);
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // SIGKILL; returns when it is gone.
  void kill_now();
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The exit status, or 128 and the signal; empty while it runs.
  [[nodiscard]] std::optional<int> exit_status();
  // What it wrote to its standard error.
  [[nodiscard]] std::string output() const;

 private:
  pid_t pid_ = -1;
  std::string log_path_;
  std::optional<int> exit_status_;
};

}  // namespace mljobd::test
