#include "behaviour.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

namespace mljobd::load {
namespace {

pid_t fork_or_throw() {
  // Output that waits in the buffer would come out once for each of the two.
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
  return child;
}

[[noreturn]] void be_daemon() {
  ::setsid();
  if (::fork() != 0) ::_exit(EXIT_SUCCESS);
  std::printf("daemon %d\n", static_cast<int>(::getpid()));
  std::fflush(stdout);
  while (true) ::pause();
}

}  // namespace

void leave_daemon() {
  const pid_t child = fork_or_throw();
  if (child == 0) be_daemon();
  ::waitpid(child, nullptr, 0);
}

void leave_zombie() {
  const pid_t child = fork_or_throw();
  if (child == 0) ::_exit(EXIT_SUCCESS);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
}

void ignore_termination() { std::signal(SIGTERM, SIG_IGN); }

void print_lines(std::uint64_t bytes) {
  constexpr std::size_t line_length = 100;
  std::array<char, line_length + 1> line{};
  for (std::uint64_t number = 0; bytes > 0; ++number) {
    std::snprintf(line.data(), line.size(), "line %020llu %073d\n", static_cast<unsigned long long>(number), 0);
    const std::size_t length = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, line_length));
    std::fwrite(line.data(), 1, length, stdout);
    bytes -= length;
  }
  std::fflush(stdout);
}

void draw_progress(std::uint64_t times) {
  for (std::uint64_t number = 1; number <= times; ++number) {
    std::printf("\rprogress %llu/%llu", static_cast<unsigned long long>(number),
                static_cast<unsigned long long>(times));
    std::fflush(stdout);
  }
  if (times > 0) std::printf("\n");
  std::fflush(stdout);
}

}  // namespace mljobd::load
