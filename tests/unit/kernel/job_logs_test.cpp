#include "kernel/job_logs.hpp"

#include <filesystem>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

constexpr core::Bytes mebibyte = core::Bytes{1} << 20;

// Numbered lines of 16 bytes: every place in the text can be told.
std::string numbered_text(std::size_t bytes) {
  std::string text;
  text.reserve(bytes + 16);
  for (std::size_t line = 0; text.size() < bytes; ++line) {
    std::string number = std::to_string(line);
    text += std::string(15 - number.size(), '0') + number + "\n";
  }
  text.resize(bytes);
  return text;
}

void append(const std::string& path, const std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  REQUIRE(::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

struct LogsOnDisk {
  TemporaryDirectory directory{};
  JobLogs logs{directory / "logs"};
};

TEST_CASE("a log is named after its attempt, root's alone, and made together with its folder") {
  const LogsOnDisk disk;
  const auto path = value_of(disk.logs.create(42, 1));
  CHECK(path == disk.directory / "logs/42-1.log");
  CHECK(path == disk.logs.path(42, 1));
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(disk.directory / "logs") == 0700);
}

TEST_CASE("a start that is tried again loses no output") {
  const LogsOnDisk disk;
  append(value_of(disk.logs.create(42, 1)), "precious\n");
  CHECK(disk.logs.create(42, 1));
  CHECK(read_text(disk.logs.path(42, 1)) == "precious\n");
}

TEST_CASE("a link in the place of a log is not followed") {
  const LogsOnDisk disk;
  write_text(disk.directory / "secret", "secret");
  CHECK(disk.logs.create(1, 1));
  std::filesystem::create_symlink(disk.directory / "secret", disk.logs.path(42, 1));
  CHECK(disk.logs.create(42, 1).error().code == core::ErrorCode::storage);
  CHECK_FALSE(disk.logs.open_for_reading(42, 1));
  CHECK_FALSE(disk.logs.bound(42, 1, 0));
  CHECK(read_text(disk.directory / "secret") == "secret");
}

TEST_CASE("the reader's descriptor reads and cannot write") {
  const LogsOnDisk disk;
  append(value_of(disk.logs.create(42, 1)), "hello\n");
  const auto fd = value_of(disk.logs.open_for_reading(42, 1));
  std::string text(6, '\0');
  CHECK(::read(fd.get(), text.data(), text.size()) == 6);
  CHECK(text == "hello\n");
  CHECK(::write(fd.get(), "x", 1) == -1);
}

TEST_CASE("a log that is not there is said, a folder that cannot be made too") {
  const LogsOnDisk disk;
  CHECK(disk.logs.open_for_reading(42, 2).error() ==
        core::Error{core::ErrorCode::invalid_state, "there is no log of attempt 2 of job 42"});
  CHECK(disk.logs.allocated(42, 2).error().code == core::ErrorCode::invalid_state);
  CHECK(disk.logs.bound(42, 2, mebibyte).error().code == core::ErrorCode::invalid_state);
  CHECK(JobLogs("/proc/logs").create(1, 1).error().code == core::ErrorCode::storage);
}

TEST_CASE("a log within its bound is left alone") {
  const LogsOnDisk disk;
  const std::string text = numbered_text(mebibyte);
  append(value_of(disk.logs.create(42, 1)), text);
  CHECK(value_of(disk.logs.bound(42, 1, mebibyte + 65536)) >= mebibyte);
  CHECK(read_text(disk.logs.path(42, 1)) == text);
}

TEST_CASE("a log above its bound keeps head and tail, and its reader finds the hole") {
  const LogsOnDisk disk;
  const std::string text = numbered_text(4 * mebibyte + 1234);
  append(value_of(disk.logs.create(42, 1)), text);
  const core::Bytes limit = mebibyte + 100;  // no multiple of any block
  const auto left = value_of(disk.logs.bound(42, 1, limit));
  CHECK(left <= limit);
  CHECK(left == value_of(disk.logs.allocated(42, 1)));

  const std::string now = read_text(disk.logs.path(42, 1));
  REQUIRE(now.size() == text.size());
  CHECK(now.substr(0, limit / 4) == text.substr(0, limit / 4));
  CHECK(now.substr(now.size() - limit / 2) == text.substr(text.size() - limit / 2));

  const auto fd = value_of(disk.logs.open_for_reading(42, 1));
  const auto hole = ::lseek(fd.get(), 0, SEEK_HOLE);
  const auto data = ::lseek(fd.get(), hole, SEEK_DATA);
  const auto hole_start = static_cast<std::size_t>(hole);
  const auto hole_size = static_cast<std::size_t>(data - hole);
  CHECK(hole_start >= limit / 4);
  CHECK(static_cast<core::Bytes>(data) <= text.size() - limit / 2);
  CHECK(hole_size > 3 * mebibyte);
  // Not a byte outside of the hole was lost: a reader that leaves it out sees no NULs.
  CHECK(now.substr(0, hole_start) == text.substr(0, hole_start));
  CHECK(now.substr(hole_start + hole_size) == text.substr(hole_start + hole_size));
  CHECK(now.substr(hole_start, hole_size) == std::string(hole_size, '\0'));
}

TEST_CASE("a job that goes on printing is bounded again and again, and always ends with its last words") {
  const LogsOnDisk disk;
  const auto path = value_of(disk.logs.create(42, 1));
  const std::string text = numbered_text(16 * mebibyte);
  for (std::size_t done = 0; done < text.size(); done += mebibyte / 2) {
    append(path, text.substr(done, mebibyte / 2));
    CHECK(value_of(disk.logs.bound(42, 1, mebibyte)) <= mebibyte);
  }
  const std::string now = read_text(path);
  REQUIRE(now.size() == text.size());
  CHECK(now.substr(0, mebibyte / 4) == text.substr(0, mebibyte / 4));
  CHECK(now.substr(now.size() - mebibyte / 2) == text.substr(text.size() - mebibyte / 2));
}

TEST_CASE("space that a job reserved beyond the end of its log is taken back") {
  const LogsOnDisk disk;
  const auto path = value_of(disk.logs.create(42, 1));
  append(path, "hello\n");
  const UniqueFd job(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  REQUIRE(::fallocate(job.get(), FALLOC_FL_KEEP_SIZE, 0, 8 * mebibyte) == 0);
  CHECK(value_of(disk.logs.allocated(42, 1)) >= 8 * mebibyte);
  CHECK(value_of(disk.logs.bound(42, 1, mebibyte)) < mebibyte);
  CHECK(read_text(path) == "hello\n");
}

// In a child with mounts of its own: the outcome of bound() on a ramfs, which cannot punch holes. Exit code 0 as
// expected, 1 not, 2 no such mount to be had here.
int bound_without_holes(const std::string& directory) {
  const pid_t child = ::fork();
  if (child != 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(2);
  // Nobody can own a file whose ids are not mapped.
  write_text("/proc/self/uid_map", user + " " + user + " 1");
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/gid_map", group + " " + group + " 1");
  if (::mount("none", directory.c_str(), "ramfs", 0, nullptr) != 0) ::_exit(2);
  const JobLogs logs(directory);
  const auto path = logs.create(42, 1);
  if (!path) ::_exit(1);
  const std::string text = numbered_text(mebibyte);
  write_text(*path, text);
  const auto bounded = logs.bound(42, 1, mebibyte / 2);
  const bool said =
      !bounded && bounded.error().code == core::ErrorCode::storage &&
      bounded.error().message == "cannot take the middle out of the log " + *path + ": Operation not supported";
  ::_exit(said && read_text(*path) == text ? 0 : 1);
}

TEST_CASE("a file system without holes is said, and the log left as it was") {
  const TemporaryDirectory directory;
  const int outcome = bound_without_holes(directory.path());
  if (outcome == 2) {
    WARN("no mount namespace to be had here: nothing was tested");
    return;
  }
  CHECK(outcome == 0);
}

TEST_CASE("all attempts of a job are removed, and no other job's") {
  const LogsOnDisk disk;
  for (const std::uint32_t attempt : {1U, 3U}) CHECK(disk.logs.create(42, attempt));
  CHECK(disk.logs.create(421, 1));
  disk.logs.remove(42, 3);
  CHECK_FALSE(std::filesystem::exists(disk.logs.path(42, 1)));
  CHECK_FALSE(std::filesystem::exists(disk.logs.path(42, 3)));
  CHECK(std::filesystem::exists(disk.logs.path(421, 1)));
}

}  // namespace
}  // namespace mljobd::kernel
