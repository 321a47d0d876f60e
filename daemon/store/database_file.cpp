#include "store/database_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mljobd::store {
namespace {

constexpr const char* suspect_suffix = ".suspect";

tl::unexpected<core::Error> system_failure(const std::string& what, int error_number) {
  return core::failure(core::ErrorCode::storage, what + ": " + std::generic_category().message(error_number));
}

bool exists(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0;
}

std::string utc_stamp(core::RealTime now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm fields{};
  gmtime_r(&seconds, &fields);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &fields)};
}

}  // namespace

// An existing file is not opened: closing it would drop the locks that SQLite holds on it in this process.
core::Expected<void> ensure_private_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor >= 0) {
    close(descriptor);
    return {};
  }
  if (errno != EEXIST) return system_failure("cannot create the job records " + path, errno);
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return system_failure("cannot open the job records " + path, errno);
  if (!S_ISREG(status.st_mode)) {
    return core::failure(core::ErrorCode::storage, path + " is not a regular file: move it away");
  }
  // The log files that SQLite makes get the mode of this one.
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0 && chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) {
    return system_failure("cannot keep others from reading the job records " + path, errno);
  }
  return {};
}

core::Expected<std::string> move_aside(const std::string& path, core::RealTime now) {
  const std::string stem = path + ".damaged-" + utc_stamp(now);
  std::string target = stem;
  for (int count = 2; exists(target); ++count) target = stem + "-" + std::to_string(count);
  // The file itself goes last: a log that outlived it would be replayed into the new database.
  for (const char* suffix : {"-wal", "-shm", "-journal", ""}) {
    const std::string from = path + suffix;
    if (exists(from) && std::rename(from.c_str(), (target + suffix).c_str()) != 0) {
      return system_failure("cannot move the damaged job records " + from + " away", errno);
    }
  }
  clear_suspicion(path);
  return target;
}

void raise_suspicion(const std::string& path) noexcept {
  const int descriptor = open((path + suspect_suffix).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor >= 0) close(descriptor);
}

bool is_suspect(const std::string& path) { return exists(path + suspect_suffix); }

void clear_suspicion(const std::string& path) noexcept { unlink((path + suspect_suffix).c_str()); }

}  // namespace mljobd::store
