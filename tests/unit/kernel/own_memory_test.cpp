#include "kernel/own_memory.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

// Sanitizers make mlockall() do nothing, and their allocators keep what is freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool real_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool real_memory = false;
#else
constexpr bool real_memory = true;
#endif
#else
constexpr bool real_memory = true;
#endif

constexpr int ok = 0;
constexpr int not_allowed_here = 77;

// In kibibytes, from "VmLck:	      12 kB".
long status_value(const std::string& key) {
  const std::string text = read_text("/proc/self/status");
  const auto found = text.find("\n" + key + ":");
  return found == std::string::npos ? -1 : std::stol(text.substr(found + key.size() + 2));
}

// In a process of its own: the lock and the limit are the process's.
int exit_code_of(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Many small pieces, all but the last of them freed: a hole that only malloc_trim() gives back.
std::unique_ptr<char[]> leave_a_hole() {
  constexpr std::size_t piece = 256;
  constexpr int count = 150'000;
  std::vector<std::unique_ptr<char[]>> pieces;
  for (int index = 0; index < count; ++index) {
    pieces.push_back(std::make_unique<char[]>(piece));
    std::memset(pieces.back().get(), 1, piece);
  }
  return std::move(pieces.back());
}

TEST_CASE("memory is not locked within a bound, where allocations would fail later") {
  const int code = exit_code_of([] {
    constexpr rlim_t mebibyte = rlim_t{1024} * 1024;
    const struct rlimit bound{.rlim_cur = mebibyte, .rlim_max = mebibyte};
    if (::setrlimit(RLIMIT_MEMLOCK, &bound) != 0) return 1;
    // Without the capability that makes the bound none.
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 2;
    const auto locked = lock_own_memory();
    if (locked || locked.error().message.find("LimitMEMLOCK=infinity") == std::string::npos) return 3;
    return status_value("VmLck") == 0 ? ok : 4;
  });
  CHECK(code == ok);
}

TEST_CASE("locked memory is still given back when it is freed, and stays locked") {
  if (!real_memory) return;
  const int code = exit_code_of([] {
    if (!lock_own_memory()) return not_allowed_here;
    if (status_value("VmLck") <= 0) return 1;
    const auto kept = leave_a_hole();
    const long full = status_value("VmRSS");
    give_memory_back();
    constexpr long half_of_the_hole = 150'000 / 4 / 2;
    if (status_value("VmRSS") > full - half_of_the_hole) return 2;
    if (status_value("VmLck") <= 0) return 3;
    // What is mapped from now on is locked as well, but not taken before it is touched.
    const long before = status_value("VmRSS");
    constexpr std::size_t large = std::size_t{256} * 1024 * 1024;
    const std::unique_ptr<char[]> untouched(new char[large]);
    return status_value("VmRSS") < before + 1024 ? ok : 4;
  });
  if (code == not_allowed_here) {
    WARN("locking memory is not allowed here: only the refusal was tested");
  } else {
    CHECK(code == ok);
  }
}

}  // namespace
}  // namespace mljobd::kernel
