#include "kernel/machine.hpp"

#include <filesystem>

#include <catch2/catch.hpp>
#include <sys/statvfs.h>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

const std::string fixtures = MLJOBD_FIXTURES "/machine";

TEST_CASE("a machine is read from its files") {
  const auto machine = value_of(read_machine(fixtures + "/unified"));
  CHECK(machine.total_memory == core::Bytes{16303428} * 1024);
  CHECK(machine.available_memory == core::Bytes{12078676} * 1024);
  CHECK(machine.swap_total == core::Bytes{2097148} * 1024);
  CHECK(machine.topology.cores.size() == 8);
  CHECK(machine.boot_id == "c8a5b8b2-5f0b-4f6f-9a0e-0d4f7d1d9d11");
}

TEST_CASE("this machine is read too") {
  const auto machine = value_of(read_machine());
  CHECK(machine.total_memory >= machine.available_memory);
  CHECK(machine.available_memory > 0);
  CHECK_FALSE(machine.topology.cores.empty());
  CHECK(machine.boot_id.size() == 36);
}

TEST_CASE("the error names the file that a machine lacks") {
  CHECK(read_machine(fixtures + "/hybrid").error().message == "/proc/meminfo does not tell MemTotal and MemAvailable");
  const TemporaryDirectory root;
  CHECK(read_machine(root.path()).error().message == "cannot open proc/meminfo: No such file or directory");
  std::filesystem::copy(fixtures + "/unified/proc", root / "proc", std::filesystem::copy_options::recursive);
  std::filesystem::remove(root / "proc/sys/kernel/random/boot_id");
  CHECK(read_machine(root.path()).error().message ==
        "cannot open proc/sys/kernel/random/boot_id: No such file or directory");
}

TEST_CASE("a unified hierarchy offers its controllers, here and below") {
  const auto system = read_platform(fixtures + "/unified", "");
  CHECK(system.unified_cgroup);
  CHECK(system.psi);
  CHECK(system.controllers ==
        std::vector<std::string>{"cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc"});
  CHECK(read_platform(fixtures + "/unified", "/user.slice").controllers ==
        std::vector<std::string>{"cpu", "memory", "pids"});
  CHECK(read_platform(fixtures + "/unified", "/absent.slice").controllers.empty());
}

TEST_CASE("a hybrid host is no unified one, and psi may be missing") {
  const auto hybrid = read_platform(fixtures + "/hybrid", "");
  CHECK_FALSE(hybrid.unified_cgroup);
  CHECK(hybrid.controllers.empty());
  CHECK_FALSE(hybrid.psi);
  CHECK_FALSE(read_platform("/nonexistent", "").unified_cgroup);
}

TEST_CASE("the room in /dev/shm is that of its file system") {
  const auto space = shm_space();
  struct statvfs seen{};
  const bool own = std::filesystem::exists("/dev/shm") && ::statvfs("/dev/shm", &seen) == 0;
  if (space) {
    REQUIRE(own);
    CHECK(space->total == seen.f_blocks * seen.f_frsize);
    CHECK(space->free <= space->total);
  } else {
    struct statvfs above{};
    CHECK((!own || seen.f_blocks == 0 || (::statvfs("/dev", &above) == 0 && above.f_fsid == seen.f_fsid)));
  }
}

}  // namespace
}  // namespace mljobd::kernel
