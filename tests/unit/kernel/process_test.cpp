#include "kernel/process.hpp"

#include <csignal>
#include <thread>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/unique_fd.hpp"
#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

UniqueFd pidfd_of(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

// A child that waits to be killed; reaped at the end at the latest.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "a\nUid:\t7");
    while (true) ::pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { reap(); }

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Dead, its number still taken.
  void kill() const {
    ::kill(pid_, SIGKILL);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
  }
  void reap() {
    if (reaped_) return;
    kill();
    ::waitpid(pid_, nullptr, 0);
    reaped_ = true;
  }

 private:
  pid_t pid_;
  bool reaped_ = false;
};

constexpr const char* status_text =
    "Name:\tpython3\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4101\nNgid:\t0\nPid:\t4101\nPPid:\t1\n"
    "Uid:\t1000\t0\t0\t0\nGid:\t1000\t1000\t1000\t1000\n";

TEST_CASE("a process is told by its status, set-uid programs included") {
  const auto process = value_of(parse_process(4101, status_text, "0::/mljob.slice/x\n"));
  CHECK(process.pid == 4101);
  CHECK(process.real_uid == 1000);
  CHECK(process.effective_uid == 0);
  CHECK(process.command_name == "python3");
  CHECK(process.cgroup == "/mljob.slice/x");
}

TEST_CASE("a status without an owner belongs to nobody") {
  CHECK(parse_process(4101, "Name:\tx\nTgid:\t4101\n", "").error().code == core::ErrorCode::invalid_state);
  CHECK_FALSE(parse_process(4101, "Name:\tx\nTgid:\t4101\nUid:\t1000\n", ""));
  CHECK_FALSE(parse_process(4101, "Name:\tx\nTgid:\t4101\nUid:\t1000\t-1\t0\t0\n", ""));
  CHECK_FALSE(parse_process(4101, "Name:\tx\nTgid:\t4101\nUid:\t4294967296\t0\t0\t0\n", ""));
  CHECK_FALSE(parse_process(4101, "", ""));
}

TEST_CASE("a thread is not a process") {
  const auto thread = parse_process(4102, status_text, "");
  REQUIRE_FALSE(thread);
  CHECK(thread.error() ==
        core::Error{core::ErrorCode::invalid_spec, "4102 is a thread of process 4101: name the process"});
}

TEST_CASE("the unified cgroup is found on hybrid hosts too") {
  CHECK(parse_unified_cgroup("0::/user.slice/user-1000.slice\n") == "/user.slice/user-1000.slice");
  CHECK(parse_unified_cgroup("9:name=systemd:/a\n4:memory:/0::b\n0::/c\n") == "/c");
  CHECK(parse_unified_cgroup("9:name=systemd:/a\n10::/x\n").empty());
  CHECK(parse_unified_cgroup("").empty());
}

TEST_CASE("a command line is split at its NULs and bounded") {
  using std::string_literals::operator""s;
  CHECK(parse_command_line("python3\0-c\0\0end\0"s) == std::vector<std::string>{"python3", "-c", "", "end"});
  CHECK(parse_command_line("cut\0of"s) == std::vector<std::string>{"cut", "of"});
  CHECK(parse_command_line("").empty());
  CHECK(parse_command_line(std::string(10'000, '\0')).size() == 4096);
}

TEST_CASE("a pidfd gives its process, whatever that calls itself") {
  const Child child;
  const auto pidfd = pidfd_of(child.pid());
  REQUIRE(pidfd);
  CHECK(value_of(pid_of_pidfd(pidfd.get())) == static_cast<std::uint32_t>(child.pid()));
  const auto process = value_of(inspect_pidfd(pidfd.get()));
  CHECK(process.pid == static_cast<std::uint32_t>(child.pid()));
  CHECK(process.real_uid == ::getuid());
  CHECK(process.effective_uid == ::geteuid());
  CHECK(value_of(read_command_line(process.pid)) ==
        value_of(read_command_line(static_cast<std::uint32_t>(::getpid()))));
}

TEST_CASE("a process that ended is neither inspected as a zombie nor by a number that is free") {
  Child child;
  const auto pid = static_cast<std::uint32_t>(child.pid());
  const auto pidfd = pidfd_of(child.pid());
  REQUIRE(pidfd);
  child.kill();
  CHECK(value_of(pid_of_pidfd(pidfd.get())) == pid);
  CHECK(inspect_pidfd(pidfd.get()).error().code == core::ErrorCode::invalid_state);
  CHECK(value_of(read_command_line(pid)).empty());

  child.reap();
  CHECK(pid_of_pidfd(pidfd.get()).error() ==
        core::Error{core::ErrorCode::invalid_state, "the process has exited already"});
  CHECK(inspect_pidfd(pidfd.get()).error().code == core::ErrorCode::invalid_state);
  CHECK(read_process(pid).error().code == core::ErrorCode::invalid_state);
  CHECK(read_command_line(pid).error().code == core::ErrorCode::invalid_state);
}

TEST_CASE("another kind of descriptor is not taken for a pidfd") {
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd own_directory(::open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(pid_of_pidfd(file.get()).error() ==
        core::Error{core::ErrorCode::invalid_spec, "the file descriptor does not refer to a process"});
  CHECK(inspect_pidfd(own_directory.get()).error().code == core::ErrorCode::invalid_spec);
  CHECK(inspect_pidfd(-1).error().code == core::ErrorCode::invalid_spec);
}

TEST_CASE("the number of a running thread is refused") {
  pid_t thread_id = 0;
  core::Expected<ProcessInfo> process;
  std::thread([&] {
    thread_id = static_cast<pid_t>(::syscall(SYS_gettid));
    process = read_process(static_cast<std::uint32_t>(thread_id));
  }).join();
  REQUIRE_FALSE(process);
  CHECK(process.error().code == core::ErrorCode::invalid_spec);
}

}  // namespace
}  // namespace mljobd::kernel
