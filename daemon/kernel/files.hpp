// Small files of the kernel's file systems (cgroup, proc, sys), read and written through a directory that is
// held open, so that a directory that was removed and made anew is never mistaken for the old one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/types.hpp"
#include "kernel/unique_fd.hpp"

namespace mljobd::kernel {

// An Error that remembers errno. It turns into a plain core::Error wherever one is expected:
//   core::Expected<T> f() { auto text = read_file_at(...); if (!text) return tl::unexpected(text.error()); … }
struct FileError : core::Error {
  int number = 0;  // errno

  // The file is not there (ENOENT, ENOTDIR), or what it was about ended while it was open: ENODEV for a removed
  // cgroup, ESRCH for a process. Not a fault of the machine.
  [[nodiscard]] bool is_gone() const;
};

template <class T>
using FileExpected = tl::expected<T, FileError>;

inline constexpr std::size_t default_read_limit = std::size_t{64} * 1024;

// The failure of an operation on `name` by errno `number`; the code is `storage`.
// `doing` completes "cannot …": "read", "create".
[[nodiscard]] tl::unexpected<FileError> file_failure(std::string_view doing, std::string_view name, int number);

// Opened with O_CLOEXEC in addition to `flags`. `name` is relative to `dirfd` (AT_FDCWD: the working directory).
[[nodiscard]] FileExpected<UniqueFd> open_at(int dirfd, const char* name, int flags, unsigned mode = 0);

// A directory, to be the `dirfd` of the others.
[[nodiscard]] FileExpected<UniqueFd> open_directory(int dirfd, const char* name);

// The whole file; EFBIG when it holds more than `limit` bytes.
[[nodiscard]] FileExpected<std::string> read_file_at(int dirfd, const char* name,
                                                     std::size_t limit = default_read_limit);

// The first `limit` bytes of it, for contents that a job can make as long as it likes.
[[nodiscard]] FileExpected<std::string> read_start_of_file_at(int dirfd, const char* name, std::size_t limit);

// One write(2), as the kernel's control files want it; the file must exist and is not truncated.
[[nodiscard]] FileExpected<void> write_file_at(int dirfd, const char* name, std::string_view content);

// Makes the directory with mode 0700 unless it is there; the one above it must exist.
[[nodiscard]] FileExpected<void> make_directory(const std::string& path);

}  // namespace mljobd::kernel
