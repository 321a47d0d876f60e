#include "kernel/held_file.hpp"

#include <cerrno>
#include <cstddef>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace mljobd::kernel {
namespace {

ssize_t read_at(int fd, std::span<char> buffer, std::size_t offset) {
  ssize_t got = 0;
  do {
    got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return got;
}

// Half a number at the end would be another number.
std::string_view whole_lines(std::span<const char> buffer, std::size_t length) {
  const std::string_view text(buffer.data(), length);
  return length < buffer.size() ? text : text.substr(0, text.rfind('\n') + 1);
}

}  // namespace

HeldFile::HeldFile(int directory, const char* name)
    : fd_(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOCTTY)), error_(fd_ ? 0 : errno) {}

HeldText HeldFile::read_piece(std::span<char> buffer) const {
  if (!fd_) return {.error = error_};
  const ssize_t got = read_at(fd_.get(), buffer, 0);
  if (got < 0) return {.error = errno};
  return {.text = whole_lines(buffer, static_cast<std::size_t>(got))};
}

HeldText HeldFile::read_all(std::span<char> buffer) const {
  if (!fd_) return {.error = error_};
  std::size_t length = 0;
  while (length < buffer.size()) {
    const ssize_t got = read_at(fd_.get(), buffer.subspan(length), length);
    if (got < 0) return {.error = errno};
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  return {.text = whole_lines(buffer, length)};
}

}  // namespace mljobd::kernel
