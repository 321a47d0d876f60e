#include "client/output.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <unistd.h>

namespace mljobd::client {
namespace {

// Read by the signal handler only, which may call nothing but write and _exit.
std::string& interrupt_message() {
  static std::string message;
  return message;
}
const char* interrupt_text = nullptr;
std::size_t interrupt_length = 0;

extern "C" void detach(int /*signal*/) {
  const auto written = ::write(STDERR_FILENO, interrupt_text, interrupt_length);
  static_cast<void>(written);
  ::_exit(exit_code::interrupted);
}

}  // namespace

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return exit_code::success;
  warn(std::string("cannot write to standard output: ") + std::strerror(errno));
  return exit_code::failed;
}

void warn(std::string_view message) {
  std::string line = "jobctl: ";
  line.append(message).push_back('\n');
  write_all(STDERR_FILENO, line);
}

int report(const Failure& failure) {
  warn(failure.message);
  return failure.exit_code;
}

void detach_on_interrupt(std::string_view message) {
  interrupt_message() = "\njobctl: " + std::string(message) + "\n";
  interrupt_text = interrupt_message().data();
  interrupt_length = interrupt_message().size();
  struct sigaction action = {};
  // Whoever started us with it ignored (nohup, a script's `&`) does not want us ended by it.
  if (::sigaction(SIGINT, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = detach;
  ::sigaction(SIGINT, &action, nullptr);
}

}  // namespace mljobd::client
