#include "client/foreground.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/output.hpp"

namespace mljobd::client {
namespace {

constexpr std::array forwarded{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

sigset_t forwarded_set() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : forwarded) ::sigaddset(&set, signal);
  return set;
}

// Without rights it can only go up, and up is all that is wanted: a job never outlives what is more important.
void raise_oom_score(int wanted) {
  const UniqueFd file(::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC));
  std::array<char, 16> text{};
  const auto length = ::read(file.get(), text.data(), text.size());
  int present = 0;
  if (length <= 0 || std::from_chars(text.data(), text.data() + length, present).ec != std::errc{}) return;
  if (wanted > present) write_all(file.get(), std::to_string(wanted));
}

// Everything that is written before the pipe closes; false if that is nothing at all.
bool read_gate(int gate, std::string& content) {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto got = ::read(gate, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 && !content.empty();
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void set_environment(const std::string& entries) {
  // Entries are ended by NUL bytes.
  for (std::size_t at = 0; at < entries.size(); at += std::strlen(entries.c_str() + at) + 1) {
    const std::string entry(entries.c_str() + at);
    const auto equals = entry.find('=');
    if (equals == std::string::npos) continue;
    ::setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);  // NOLINT(concurrency-mt-unsafe): forked
  }
}

[[noreturn]] void say_and_exit(const std::string& what) {
  const int error = errno;
  warn(what + ": " + std::strerror(error));
  ::_exit(error == ENOENT ? exit_code::not_found : exit_code::not_executable);
}

[[noreturn]] void run_child(const ForegroundCommand& command, int gate, const sigset_t& mask) {
  raise_oom_score(command.oom_score_adjust);
  std::string environment;
  if (!read_gate(gate, environment)) ::_exit(exit_code::failed);
  set_environment(environment);
  if (!command.workdir.empty() && ::chdir(command.workdir.c_str()) != 0) {
    say_and_exit("cannot enter " + command.workdir);
  }
  std::vector<char*> words;
  for (const auto& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // The mask is inherited by the program, which must find it as we did.
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(words.front(), words.data());
  say_and_exit("cannot run " + command.words.front());
}

void forward(int signals, int pidfd) {
  signalfd_siginfo info = {};
  while (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    // What the kernel sends for a key or a hung-up line goes to the whole group: the child has it already.
    if (info.ssi_code == SI_KERNEL) continue;
    ::syscall(SYS_pidfd_send_signal, pidfd, static_cast<int>(info.ssi_signo), nullptr, 0);
  }
}

tl::unexpected<Failure> cannot_start() {
  return fail(exit_code::failed, std::string("cannot start a process: ") + std::strerror(errno));
}

}  // namespace

ForegroundChild::ForegroundChild(pid_t pid, UniqueFd pidfd, UniqueFd gate, UniqueFd signals)
    : pid_(pid), pidfd_(std::move(pidfd)), gate_(std::move(gate)), signals_(std::move(signals)) {}

Outcome<ForegroundChild> ForegroundChild::start(const ForegroundCommand& command) {
  std::array<int, 2> gate{};
  if (::pipe2(gate.data(), O_CLOEXEC) != 0) return cannot_start();
  const UniqueFd reading(gate[0]);
  UniqueFd writing(gate[1]);
  // Blocked before the fork: from here on none is lost, and none ends us while the child lives.
  const sigset_t set = forwarded_set();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &set, &before);
  UniqueFd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return cannot_start();
  const pid_t pid = ::fork();
  if (pid < 0) return cannot_start();
  if (pid == 0) {
    writing.reset();
    // While it waits at the gate a Ctrl-C ends it as it would the program.
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    run_child(command, reading.get(), before);
  }
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return cannot_start();
  return ForegroundChild(pid, std::move(pidfd), std::move(writing), std::move(signals));
}

bool ForegroundChild::let_go(const std::vector<std::string>& environment) {
  std::string entries;
  for (const auto& entry : environment) entries.append(entry).push_back('\0');
  // A child that died at the gate must not take us along with SIGPIPE.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const bool written = write_all(gate_.get(), entries);
  std::signal(SIGPIPE, before);
  gate_.reset();
  return written;
}

ForegroundChild::Exit ForegroundChild::wait() {
  std::array<pollfd, 2> descriptors{pollfd{.fd = pidfd_.get(), .events = POLLIN, .revents = 0},
                                    pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0}};
  while (true) {
    const int ready = ::poll(descriptors.data(), descriptors.size(), -1);
    if (ready < 0 && errno != EINTR) break;
    if (descriptors[1].revents != 0) forward(signals_.get(), pidfd_.get());
    if (descriptors[0].revents != 0) break;
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) return {.code = -1, .signal = static_cast<unsigned>(WTERMSIG(status))};
  return {.code = WEXITSTATUS(status), .signal = 0};
}

void ForegroundChild::abandon() {
  gate_.reset();
  static_cast<void>(wait());
}

}  // namespace mljobd::client
