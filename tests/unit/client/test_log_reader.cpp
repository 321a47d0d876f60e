#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "client/log_reader.hpp"
#include "client/output.hpp"
#include "client/unique_fd.hpp"

using namespace mljobd::client;

namespace {

// An unnamed file: gone with the test.
UniqueFd scratch_file() {
  std::string path = "/tmp/mljobd-test-XXXXXX";
  UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  REQUIRE(fd.valid());
  ::unlink(path.c_str());
  return fd;
}

std::string content_of(const UniqueFd& fd) {
  std::string content(static_cast<std::size_t>(::lseek(fd.get(), 0, SEEK_END)), '\0');
  REQUIRE(::pread(fd.get(), content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
  return content;
}

std::string tail(const UniqueFd& log, std::uint64_t lines) {
  const auto start = tail_start(log.get(), lines);
  REQUIRE(start);
  return content_of(log).substr(static_cast<std::size_t>(*start));
}

}  // namespace

TEST_CASE("the last lines") {
  const auto log = scratch_file();
  CHECK(tail(log, 3).empty());
  REQUIRE(write_all(log.get(), "1\n2\n\n4\n"));
  CHECK(tail(log, 0).empty());
  CHECK(tail(log, 1) == "4\n");
  CHECK(tail(log, 2) == "\n4\n");
  CHECK(tail(log, 4) == "1\n2\n\n4\n");
  CHECK(tail(log, 100) == "1\n2\n\n4\n");
  REQUIRE(write_all(log.get(), "5 has no end"));
  CHECK(tail(log, 1) == "5 has no end");
  CHECK(tail(log, 2) == "4\n5 has no end");
}

TEST_CASE("lines longer than any buffer") {
  const auto log = scratch_file();
  const std::string large(700'001, 'x');
  REQUIRE(write_all(log.get(), "a\n" + large + "\nb\n"));
  CHECK(tail(log, 1) == "b\n");
  CHECK(tail(log, 2) == large + "\nb\n");
  CHECK(tail(log, 3) == "a\n" + large + "\nb\n");
}

TEST_CASE("a log is copied byte for byte, and goes on where it was") {
  const auto log = scratch_file();
  const auto out = scratch_file();
  LogReader reader(log.get(), 0, [](auto) { FAIL("there is no hole"); });
  const std::string first("bar 1%\rbar 2%\r\0\xff\n", 17);
  REQUIRE(write_all(log.get(), first));
  REQUIRE(reader.copy_available(out.get()));
  CHECK(content_of(out) == first);
  REQUIRE(reader.copy_available(out.get()));
  CHECK(content_of(out) == first);
  const std::string second(300'000, 'y');
  REQUIRE(write_all(log.get(), second));
  REQUIRE(reader.copy_available(out.get()));
  CHECK(content_of(out) == first + second);
}

TEST_CASE("what was dropped in the middle is announced in its place") {
  const auto log = scratch_file();
  const auto out = scratch_file();
  constexpr off_t hole_begin = 1 << 20;
  constexpr off_t hole_size = 8 << 20;
  REQUIRE(write_all(log.get(), std::string(static_cast<std::size_t>(hole_begin + hole_size), 'x') + "\nlast\n"));
  if (::fallocate(log.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, hole_begin, hole_size) != 0) {
    WARN("the file system of /tmp has no holes: not tested");
    return;
  }
  std::vector<std::pair<std::size_t, mljobd::core::Bytes>> holes;
  LogReader reader(log.get(), 0,
                   [&](mljobd::core::Bytes dropped) { holes.emplace_back(content_of(out).size(), dropped); });
  REQUIRE(reader.copy_available(out.get()));
  CHECK(content_of(out) == std::string(static_cast<std::size_t>(hole_begin), 'x') + "\nlast\n");
  CHECK(holes == std::vector<std::pair<std::size_t, mljobd::core::Bytes>>{{hole_begin, hole_size}});
  CHECK(tail(log, 1) == "last\n");
}
