#include "kernel/files.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

namespace mljobd::kernel {
namespace {

// pread, because a file of the kernel is made up when it is read from its start, and goes on from where it was
// asked to: a short read is not its end.
FileExpected<std::string> read_up_to(int fd, const char* name, std::size_t limit) {
  constexpr std::size_t step = 4096;
  std::string content;
  while (content.size() < limit) {
    const std::size_t have = content.size();
    content.resize(have + std::min(step, limit - have));
    const ssize_t got = ::pread(fd, content.data() + have, content.size() - have, static_cast<off_t>(have));
    const int number = errno;
    content.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && number == EINTR) continue;
    if (got < 0) return file_failure("read", name, number);
    if (got == 0) break;
  }
  return content;
}

}  // namespace

bool FileError::is_gone() const { return number == ENOENT || number == ENOTDIR || number == ENODEV || number == ESRCH; }

tl::unexpected<FileError> file_failure(std::string_view doing, std::string_view name, int number) {
  std::string message = "cannot ";
  message.append(doing).append(" ").append(name).append(": ").append(std::generic_category().message(number));
  return tl::unexpected<FileError>(FileError{{core::ErrorCode::storage, std::move(message)}, number});
}

FileExpected<UniqueFd> open_at(int dirfd, const char* name, int flags, unsigned mode) {
  UniqueFd fd(::openat(dirfd, name, flags | O_CLOEXEC, mode));
  if (!fd) return file_failure("open", name, errno);
  return fd;
}

FileExpected<UniqueFd> open_directory(int dirfd, const char* name) {
  return open_at(dirfd, name, O_RDONLY | O_DIRECTORY);
}

FileExpected<std::string> read_start_of_file_at(int dirfd, const char* name, std::size_t limit) {
  const auto fd = open_at(dirfd, name, O_RDONLY | O_NOCTTY);
  if (!fd) return tl::unexpected(fd.error());
  return read_up_to(fd->get(), name, limit);
}

FileExpected<std::string> read_file_at(int dirfd, const char* name, std::size_t limit) {
  auto content = read_start_of_file_at(dirfd, name, limit + 1);
  if (content && content->size() > limit) return file_failure("read", name, EFBIG);
  return content;
}

FileExpected<void> write_file_at(int dirfd, const char* name, std::string_view content) {
  const auto fd = open_at(dirfd, name, O_WRONLY | O_NOCTTY);
  if (!fd) return tl::unexpected(fd.error());
  const ssize_t written = ::write(fd->get(), content.data(), content.size());
  if (written < 0) return file_failure("write", name, errno);
  if (static_cast<std::size_t>(written) != content.size()) return file_failure("write", name, EIO);
  return {};
}

FileExpected<void> make_directory(const std::string& path) {
  constexpr mode_t owner_only = 0700;
  if (::mkdir(path.c_str(), owner_only) != 0 && errno != EEXIST) return file_failure("create", path, errno);
  return {};
}

}  // namespace mljobd::kernel
