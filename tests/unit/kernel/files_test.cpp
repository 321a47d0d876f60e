#include "kernel/files.hpp"

#include <cerrno>

#include <catch2/catch.hpp>
#include <fcntl.h>

#include "kernel/unique_fd.hpp"
#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST_CASE("a descriptor is closed once, by its last owner") {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(number >= 0);
  {
    UniqueFd first(number);
    UniqueFd second(std::move(first));
    CHECK_FALSE(first.valid());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): it has to be empty
    CHECK(second.get() == number);
    UniqueFd third;
    third = std::move(second);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("a released descriptor stays open") {
  int number = -1;
  {
    UniqueFd owner(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = owner.release();
    CHECK_FALSE(owner);
  }
  CHECK(is_open(number));
  const UniqueFd closes_it(number);
}

TEST_CASE("a descriptor is not inherited by the programs that the daemon starts") {
  const auto fd = open_at(AT_FDCWD, "/dev/null", O_RDONLY);
  REQUIRE(fd);
  CHECK((::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a file is read whole, up to the limit and not above it") {
  const TemporaryDirectory directory;
  const auto top = value_of(open_directory(AT_FDCWD, directory.path().c_str()));
  const std::string content(10'000, 'x');
  write_text(directory / "file", content);

  CHECK(value_of(read_file_at(top.get(), "file")) == content);
  CHECK(value_of(read_file_at(top.get(), "file", content.size())) == content);
  const auto too_long = read_file_at(top.get(), "file", content.size() - 1);
  REQUIRE_FALSE(too_long);
  CHECK(too_long.error().number == EFBIG);
  CHECK(value_of(read_start_of_file_at(top.get(), "file", 7)) == "xxxxxxx");
}

TEST_CASE("what went away is told from what is broken") {
  const TemporaryDirectory directory;
  const auto top = value_of(open_directory(AT_FDCWD, directory.path().c_str()));
  const auto missing = read_file_at(top.get(), "missing");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().number == ENOENT);
  CHECK(missing.error().is_gone());
  CHECK(missing.error().message == "cannot open missing: No such file or directory");

  const auto unreadable = read_file_at(top.get(), ".");
  REQUIRE_FALSE(unreadable);
  CHECK(unreadable.error().number == EISDIR);
  CHECK_FALSE(unreadable.error().is_gone());

  CHECK(FileError{{}, ENODEV}.is_gone());
  CHECK(FileError{{}, ESRCH}.is_gone());
}

TEST_CASE("a file error becomes an error of the contract by itself") {
  const auto read = []() -> core::Expected<std::string> {
    const auto text = read_file_at(AT_FDCWD, "/nonexistent");
    if (!text) return tl::unexpected(text.error());
    return *text;
  }();
  REQUIRE_FALSE(read);
  CHECK(read.error().code == core::ErrorCode::storage);
  CHECK(read.error().message == "cannot open /nonexistent: No such file or directory");
}

TEST_CASE("a write changes a file that exists and makes none") {
  const TemporaryDirectory directory;
  const auto top = value_of(open_directory(AT_FDCWD, directory.path().c_str()));
  write_text(directory / "control", "0");
  CHECK(write_file_at(top.get(), "control", "1"));
  CHECK(read_text(directory / "control") == "1");

  const auto missing = write_file_at(top.get(), "missing", "1");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().is_gone());
  CHECK_FALSE(std::filesystem::exists(directory / "missing"));

  const auto full = write_file_at(AT_FDCWD, "/dev/full", "1");
  REQUIRE_FALSE(full);
  CHECK(full.error().number == ENOSPC);
}

TEST_CASE("a directory is made for root only, and one that is there is left alone") {
  const TemporaryDirectory directory;
  CHECK(make_directory(directory / "new"));
  CHECK(mode_of(directory / "new") == 0700);
  std::filesystem::permissions(directory / "new",
                               std::filesystem::perms::owner_all | std::filesystem::perms::group_read);
  CHECK(make_directory(directory / "new"));
  CHECK(mode_of(directory / "new") == 0740);
  CHECK_FALSE(make_directory(directory / "no/parent"));
}

}  // namespace
}  // namespace mljobd::kernel
