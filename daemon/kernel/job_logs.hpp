// The logs of the jobs: one file per attempt, which PID 1 opens to append for the job, and which only the daemon
// opens to read. A log that grew too large loses its middle.
#pragma once

#include <cstdint>
#include <string>

#include "core/types.hpp"
#include "kernel/unique_fd.hpp"

namespace mljobd::kernel {

// Errors have the code `storage`; a log that does not exist is `invalid_state`.
class JobLogs {
 public:
  // The directory is systemd's to make (LogsDirectory=); create() makes it with mode 0700 if it is missing.
  explicit JobLogs(std::string directory);

  [[nodiscard]] const std::string& directory() const { return directory_; }

  [[nodiscard]] std::string path(core::JobId job, std::uint32_t attempt) const;  // <directory>/42-1.log

  // An empty file with mode 0600, or the one that is there: a start that is tried again loses no output. Returns
  // path().
  [[nodiscard]] core::Expected<std::string> create(core::JobId job, std::uint32_t attempt) const;

  // Read-only: may be handed to the job's owner. A part that bound() took out is a hole, which reads as NULs;
  // lseek(SEEK_HOLE) and lseek(SEEK_DATA) find its ends.
  [[nodiscard]] core::Expected<UniqueFd> open_for_reading(core::JobId job, std::uint32_t attempt) const;

  // When the file takes more disk space than `limit` bytes, its middle is given back to the file system: the first
  // limit / 4 and the last limit / 2 bytes of the file stay, rounded outwards to the file system's blocks. The size
  // does not change, so the job goes on appending. Returns the space taken now, in bytes; it may exceed a `limit` of
  // a few blocks. A file system that cannot punch holes is an error (storage), and the file is left as it was.
  [[nodiscard]] core::Expected<core::Bytes> bound(core::JobId job, std::uint32_t attempt, core::Bytes limit) const;

  // Has the kernel begin to write out what is still only in memory, and does not wait for it: whatever is made durable
  // after this on the same file system (ext4, XFS) is so no earlier than the log is.
  void begin_writing_out(core::JobId job, std::uint32_t attempt) const;

  // Disk space taken, in bytes.
  [[nodiscard]] core::Expected<core::Bytes> allocated(core::JobId job, std::uint32_t attempt) const;

  // The logs of the attempts 1 to `attempts`; one that is not there is no matter.
  void remove(core::JobId job, std::uint32_t attempts) const;

 private:
  [[nodiscard]] core::Expected<UniqueFd> open(core::JobId job, std::uint32_t attempt, int flags) const;

  std::string directory_;
};

}  // namespace mljobd::kernel
