#include "kernel/reclaim_target.hpp"

#include <cerrno>
#include <filesystem>

#include <catch2/catch.hpp>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

void make_cgroup(const TemporaryDirectory& root) {
  write_text(root / "job/memory.current", "3000\n");
  write_text(root / "job/memory.stat", "anon 1000\nfile 1500\nshmem 400\n");
  write_text(root / "job/memory.reclaim", "");
}

TEST_CASE("what only swap can take is told from page cache") {
  const TemporaryDirectory root;
  make_cgroup(root);
  const auto target = value_of(open_reclaim_target(root.path(), "job"));
  const auto held = value_of(target->look());
  CHECK(held.current == 3000);
  CHECK(held.swappable == 1400);
  write_text(root / "job/memory.stat", "anon 10\nfile 0\nshmem 4\n");
  CHECK(value_of(target->look()).swappable == 14);
}

TEST_CASE("the kernel is asked for a number of bytes") {
  const TemporaryDirectory root;
  make_cgroup(root);
  const auto target = value_of(open_reclaim_target(root.path(), "job"));
  CHECK(target->reclaim(67108864) == 0);
  CHECK(read_text(root / "job/memory.reclaim") == "67108864");
}

TEST_CASE("what the kernel refuses comes back as errno") {
  const TemporaryDirectory root;
  make_cgroup(root);
  std::filesystem::remove(root / "job/memory.reclaim");
  std::filesystem::create_symlink("/dev/full", root / "job/memory.reclaim");
  const auto target = value_of(open_reclaim_target(root.path(), "job"));
  CHECK(target->reclaim(4096) == ENOSPC);
}

TEST_CASE("a cgroup whose memory cannot be moved out is said at once") {
  const TemporaryDirectory root;
  make_cgroup(root);
  std::filesystem::remove(root / "job/memory.reclaim");
  const auto old_kernel = open_reclaim_target(root.path(), "job");
  REQUIRE_FALSE(old_kernel);
  CHECK(old_kernel.error() ==
        core::Error{core::ErrorCode::storage,
                    "the memory of job cannot be moved out to swap: it has no memory.reclaim, which takes Linux 5.19 "
                    "and the memory controller"});
  write_text(root / "job/memory.reclaim", "");
  std::filesystem::remove(root / "job/memory.stat");
  CHECK(open_reclaim_target(root.path(), "job").error().message ==
        "cannot read memory.stat: No such file or directory");
  CHECK(open_reclaim_target(root.path(), "absent").error().code == core::ErrorCode::invalid_state);
  CHECK(open_reclaim_target(root.path(), "../job").error().code == core::ErrorCode::invalid_spec);
}

}  // namespace
}  // namespace mljobd::kernel
