#include "kernel/job_logs.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/files.hpp"

namespace mljobd::kernel {
namespace {

constexpr core::Bytes stat_block = 512;  // the unit of st_blocks, whatever the file system's own

struct FileSpace {
  core::Bytes size = 0;
  core::Bytes allocated = 0;
  core::Bytes block = 1;  // what the file system gives and takes at once
};

FileExpected<FileSpace> space_of(int fd, const std::string& path) {
  struct stat found{};
  if (::fstat(fd, &found) != 0) return file_failure("examine", path, errno);
  return FileSpace{.size = static_cast<core::Bytes>(found.st_size),
                   .allocated = static_cast<core::Bytes>(found.st_blocks) * stat_block,
                   .block = static_cast<core::Bytes>(found.st_blksize)};
}

// Whole blocks only: the rest of a block would be overwritten with NULs, which a reader cannot tell from output.
FileExpected<void> punch_middle(int fd, const std::string& path, const FileSpace& space, core::Bytes limit) {
  const core::Bytes tail = limit / 2;
  const core::Bytes start = (limit / 4 + space.block - 1) / space.block * space.block;
  const core::Bytes end = space.size > tail ? (space.size - tail) / space.block * space.block : 0;
  if (end <= start) return {};
  const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(fd, mode, static_cast<off_t>(start), static_cast<off_t>(end - start)) == 0) return {};
  return file_failure("take the middle out of the log", path, errno);
}

// A job may reserve space beyond the end of its log (fallocate with KEEP_SIZE), which no hole reaches. Cutting at the
// present size frees it; what such a job writes in this very moment may be lost.
FileExpected<void> drop_reserved(int fd, const std::string& path, const FileSpace& space) {
  if (::ftruncate(fd, static_cast<off_t>(space.size)) != 0) return file_failure("cut", path, errno);
  return {};
}

core::Error no_log(core::JobId job, std::uint32_t attempt) {
  return {core::ErrorCode::invalid_state,
          "there is no log of attempt " + std::to_string(attempt) + " of job " + std::to_string(job)};
}

}  // namespace

JobLogs::JobLogs(std::string directory) : directory_(std::move(directory)) {}

std::string JobLogs::path(core::JobId job, std::uint32_t attempt) const {
  return directory_ + "/" + std::to_string(job) + "-" + std::to_string(attempt) + ".log";
}

core::Expected<UniqueFd> JobLogs::open(core::JobId job, std::uint32_t attempt, int flags) const {
  auto fd = open_at(AT_FDCWD, path(job, attempt).c_str(), flags | O_NOFOLLOW);
  if (fd) return std::move(*fd);
  if (fd.error().is_gone()) return tl::unexpected(no_log(job, attempt));
  return tl::unexpected<core::Error>(fd.error());
}

core::Expected<std::string> JobLogs::create(core::JobId job, std::uint32_t attempt) const {
  if (const auto made = make_directory(directory_); !made) return tl::unexpected<core::Error>(made.error());
  constexpr unsigned owner_only = 0600;
  std::string path = this->path(job, attempt);
  const auto fd = open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, owner_only);
  if (!fd) return tl::unexpected<core::Error>(fd.error());
  return path;
}

core::Expected<UniqueFd> JobLogs::open_for_reading(core::JobId job, std::uint32_t attempt) const {
  return open(job, attempt, O_RDONLY);
}

core::Expected<core::Bytes> JobLogs::bound(core::JobId job, std::uint32_t attempt, core::Bytes limit) const {
  const auto fd = open(job, attempt, O_WRONLY);
  if (!fd) return tl::unexpected(fd.error());
  const std::string path = this->path(job, attempt);
  const auto before = space_of(fd->get(), path);
  if (!before) return tl::unexpected<core::Error>(before.error());
  if (before->allocated <= limit) return before->allocated;
  const auto punched = punch_middle(fd->get(), path, *before, limit);
  if (!punched) return tl::unexpected<core::Error>(punched.error());
  const auto after = space_of(fd->get(), path);
  if (!after) return tl::unexpected<core::Error>(after.error());
  if (after->allocated <= limit || after->allocated <= after->size) return after->allocated;
  const auto dropped = drop_reserved(fd->get(), path, *after);
  if (!dropped) return tl::unexpected<core::Error>(dropped.error());
  return allocated(job, attempt);
}

void JobLogs::begin_writing_out(core::JobId job, std::uint32_t attempt) const {
  constexpr off64_t whole_file = 0;
  if (const auto fd = open(job, attempt, O_RDONLY)) {
    ::sync_file_range(fd->get(), 0, whole_file, SYNC_FILE_RANGE_WRITE);
  }
}

core::Expected<core::Bytes> JobLogs::allocated(core::JobId job, std::uint32_t attempt) const {
  const auto fd = open(job, attempt, O_RDONLY);
  if (!fd) return tl::unexpected(fd.error());
  const auto space = space_of(fd->get(), path(job, attempt));
  if (!space) return tl::unexpected<core::Error>(space.error());
  return space->allocated;
}

void JobLogs::remove(core::JobId job, std::uint32_t attempts) const {
  for (std::uint32_t attempt = attempts; attempt > 0; --attempt) ::unlink(path(job, attempt).c_str());
}

}  // namespace mljobd::kernel
