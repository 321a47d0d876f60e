#include "support/private_bus.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mljobd::test {
namespace {

std::string write_configuration(const std::string& directory) {
  std::string path = directory + "/bus.conf";
  std::ofstream(path) << R"(<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=)" << directory
                      << R"(/bus</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
)";
  return path;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "mljobd-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

PrivateBus::PrivateBus() {
  const auto configuration = "--config-file=" + write_configuration(directory_.path());
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  daemon_ = fork();
  if (daemon_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(pipe_ends[1], STDOUT_FILENO);
    // It complains that it cannot raise its limit of descriptors.
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    execlp("dbus-daemon", "dbus-daemon", configuration.c_str(), "--nofork", "--print-address", nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  char character = 0;
  while (read(pipe_ends[0], &character, 1) == 1 && character != '\n') address_ += character;
  close(pipe_ends[0]);
  if (address_.empty()) throw std::runtime_error("dbus-daemon does not start");
}

PrivateBus::~PrivateBus() { end(); }

void PrivateBus::end() {
  if (daemon_ <= 0) return;
  kill(daemon_, SIGKILL);
  waitpid(daemon_, nullptr, 0);
  daemon_ = -1;
}

bool run_until(systemd::EventLoop& loop, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  constexpr std::uint64_t step_usec = 20'000;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    sd_event_run(loop.native(), step_usec);
  }
  return true;
}

void settle(systemd::EventLoop& loop) {
  constexpr std::uint64_t quiet_usec = 150'000;
  while (sd_event_run(loop.native(), quiet_usec) > 0) {
  }
}

}  // namespace mljobd::test
