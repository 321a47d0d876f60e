#include "memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mljobd::load {
namespace {

// xorshift64* (Vigna): cheap, and each word depends on its own index only, so it does not matter who fills what.
std::uint64_t incompressible_word(std::uint64_t index) {
  std::uint64_t state = (index + 1) * 0x9E3779B97F4A7C15ULL;
  state ^= state >> 12U;
  state ^= state << 25U;
  state ^= state >> 27U;
  return state * 0x2545F4914F6CDD1DULL;
}

void fill(std::span<std::uint64_t> words, std::uint64_t first_index) {
  for (std::size_t index = 0; index < words.size(); ++index) words[index] = incompressible_word(first_index + index);
}

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

ResidentMemory::ResidentMemory(std::uint64_t bound) : bound_(bound) {
  if (bound == 0) return;
  void* start = ::mmap(nullptr, bound, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) fail("cannot reserve memory");
  // Huge pages would make the resident size jump, by other amounts on other machines.
  ::madvise(start, bound, MADV_NOHUGEPAGE);
  start_ = static_cast<std::byte*>(start);
}

ResidentMemory::~ResidentMemory() {
  if (start_ != nullptr) ::munmap(start_, bound_);
}

std::span<std::uint64_t> ResidentMemory::words() const {
  return {reinterpret_cast<std::uint64_t*>(start_), filled_ / sizeof(std::uint64_t)};
}

void ResidentMemory::grow(std::uint64_t bytes) {
  const std::uint64_t before = filled_ / sizeof(std::uint64_t);
  filled_ = std::min(bound_, filled_ + bytes);
  fill(words().subspan(before), before);
}

SharedMemory::SharedMemory(std::uint64_t bytes)
    : path_("/dev/shm/mljob-load-" + std::to_string(::getpid())), bytes_(bytes) {
  if (bytes_ == 0) return;
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) fail("cannot create " + path_);
  const bool sized = ::ftruncate(fd, static_cast<off_t>(bytes_)) == 0;
  void* start = sized ? ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int number = errno;
  ::close(fd);
  if (start == MAP_FAILED) {
    ::unlink(path_.c_str());
    errno = number;
    fail("cannot map " + path_);
  }
  start_ = start;
  // A full /dev/shm answers with SIGBUS here, as it does to a data loader.
  fill({static_cast<std::uint64_t*>(start_), bytes_ / sizeof(std::uint64_t)}, 0);
}

SharedMemory::~SharedMemory() {
  if (start_ == nullptr) return;
  ::munmap(start_, bytes_);
  ::unlink(path_.c_str());
}

std::uint64_t read_whole_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("cannot open " + path);
  std::array<char, std::size_t{64} * 1024> buffer{};
  std::uint64_t total = 0;
  ssize_t got = 0;
  while ((got = ::read(fd, buffer.data(), buffer.size())) > 0) total += static_cast<std::uint64_t>(got);
  const int number = errno;
  ::close(fd);
  errno = number;
  if (got < 0) fail("cannot read " + path);
  return total;
}

}  // namespace mljobd::load
