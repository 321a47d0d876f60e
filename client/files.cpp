#include "client/files.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/format.hpp"

namespace mljobd::client {
namespace {

tl::unexpected<Failure> cannot_read(std::string_view name, int number) {
  return usage_failure(std::string(name) + " cannot be read: " + std::strerror(number));
}

}  // namespace

Outcome<UniqueFd> open_regular_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.valid()) return cannot_read(path, errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return cannot_read(path, errno);
  if (!S_ISREG(status.st_mode)) return usage_failure(path + " is not a file");
  return fd;
}

Outcome<std::string> read_at_most(int fd, std::string_view name, std::size_t bound, std::string_view advice) {
  const auto too_large = [&] {
    return usage_failure(std::string(name) + " is larger than " + core::format_bytes(bound) + ": " +
                         std::string(advice));
  };
  struct stat status{};
  if (::fstat(fd, &status) == 0 && std::cmp_greater(status.st_size, bound)) return too_large();
  std::string text;
  std::size_t size = 0;
  for (;;) {
    constexpr std::size_t step = std::size_t{64} * 1024;
    text.resize(size + step);
    const auto got = ::read(fd, text.data() + size, step);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(name, errno);
    size += static_cast<std::size_t>(got);
    if (size > bound) return too_large();
    if (got == 0) break;
  }
  text.resize(size);
  return text;
}

}  // namespace mljobd::client
