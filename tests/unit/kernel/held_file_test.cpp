#include "kernel/held_file.hpp"

#include <array>
#include <cerrno>
#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

TEST_CASE("a held file is read from its start each time, as it is then") {
  const TemporaryDirectory root;
  write_text(root / "memory.current", "1000\n");
  const HeldFile file(AT_FDCWD, (root / "memory.current").c_str());
  std::array<char, 64> buffer{};
  CHECK(file.error() == 0);
  CHECK(file.read_piece(buffer).text == "1000\n");
  write_text(root / "memory.current", "20\n");
  CHECK(file.read_piece(buffer).text == "20\n");
  CHECK(file.read_all(buffer).text == "20\n");
}

TEST_CASE("a number that does not fit is left out, not cut") {
  const TemporaryDirectory root;
  write_text(root / "memory.stat", "anon 123456\nfile 789\n");
  const HeldFile file(AT_FDCWD, (root / "memory.stat").c_str());
  std::array<char, 18> buffer{};  // "anon 123456\nfile 7"
  CHECK(file.read_piece(buffer).text == "anon 123456\n");
  CHECK(file.read_all(buffer).text == "anon 123456\n");
  std::array<char, 4> tiny{};
  CHECK(file.read_piece(tiny).text.empty());
}

TEST_CASE("a file that comes in pieces is read to its end") {
  // Half a megabyte of /proc text would be one piece for a plain file: only the kernel's own stop at a page.
  const HeldFile file(AT_FDCWD, "/proc/self/smaps");
  static std::array<char, 1 << 20> buffer{};
  const auto piece = file.read_piece(buffer).text.size();
  const auto all = file.read_all(buffer).text.size();
  CHECK(piece > 0);
  CHECK(all > piece);
}

TEST_CASE("a file that is not there stays an error") {
  const TemporaryDirectory root;
  const HeldFile file(AT_FDCWD, (root / "memory.swap.current").c_str());
  std::array<char, 16> buffer{};
  CHECK(file.error() == ENOENT);
  write_text(root / "memory.swap.current", "5\n");
  CHECK(file.read_piece(buffer).error == ENOENT);
  CHECK(file.read_all(buffer).error == ENOENT);
  const HeldFile directory(AT_FDCWD, root.path().c_str());
  CHECK(directory.read_piece(buffer).error == EISDIR);
  CHECK(directory.read_all(buffer).error == EISDIR);
}

}  // namespace
}  // namespace mljobd::kernel
