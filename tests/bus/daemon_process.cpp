#include "daemon_process.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mljobd::test {
namespace {

std::map<std::string, std::string> environment(const std::string& bus_address, const std::string& directory) {
  return {{"MLJOBD_BUS_ADDRESS", bus_address},
          {"STATE_DIRECTORY", directory + "/state"},
          {"LOGS_DIRECTORY", directory + "/log"},
          {"RUNTIME_DIRECTORY", directory + "/run"},
          {"CONFIGURATION_DIRECTORY", directory + "/configuration"},
          {"MLJOBD_CGROUP_ROOT", directory + "/cgroup"},
          {"MLJOBD_LAUNCHER", "/usr/libexec/mljobd/mljob-launch"}};
}

int status_of(int wait_status) {
  constexpr int first_signal = 128;
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : first_signal + WTERMSIG(wait_status);
}

}  // namespace

DaemonProcess::DaemonProcess(const std::string& bus_address, const std::string& directory) {
  static std::atomic<int> started = 0;
  log_path_ = directory + "/mljobd-" + std::to_string(++started) + ".err";
  std::filesystem::create_directories(directory + "/cgroup");
  const auto variables = environment(bus_address, directory);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(open(log_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), STDERR_FILENO);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  // The test itself may be run by systemd, which does not mean this process.
  for (const char* name : {"JOURNAL_STREAM", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  execl(MLJOBD_DAEMON, "mljobd", nullptr);
  _exit(127);
}

DaemonProcess::~DaemonProcess() { kill_now(); }

void DaemonProcess::kill_now() {
  if (exit_status_) return;
  kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  exit_status_ = status_of(status);
}

std::optional<int> DaemonProcess::exit_status() {
  int status = 0;
  if (!exit_status_ && waitpid(pid_, &status, WNOHANG) == pid_) exit_status_ = status_of(status);
  return exit_status_;
}

std::string DaemonProcess::output() const {
  std::ifstream file(log_path_);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace mljobd::test
