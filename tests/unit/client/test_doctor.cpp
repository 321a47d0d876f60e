#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "client/doctor.hpp"

using namespace mljobd::client;
using mljobd::core::Value;

namespace {

// A machine made of files.
class Machine {
 public:
  Machine() {
    std::string path = "/tmp/mljobd-test-XXXXXX";
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    root_ = path;
  }
  ~Machine() { std::filesystem::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void file(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << content;
  }
  void folder(const std::string& path) { std::filesystem::create_directories(root_ + path); }
  void make_healthy() {
    folder("/run/systemd/system");
    folder("/var/log/journal");
    file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
    file("/proc/pressure/memory", "some avg10=0.00\n");
    file("/proc/meminfo", "MemTotal:       65850756 kB\nSwapTotal:       8388608 kB\nSwapFree:        1048576 kB\n");
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

const Check& check_named(const std::vector<Check>& checks, const std::string& what) {
  for (const auto& check : checks) {
    if (check.what == what) return check;
  }
  FAIL("no check of " << what);
  std::abort();
}

}  // namespace

TEST_CASE("a machine that has all passes") {
  Machine machine;
  machine.make_healthy();
  const auto checks = check_machine(machine.root(), false);
  CHECK(all_pass(checks));
  for (const auto& check : checks) CHECK(check.verdict == Verdict::ok);
}

TEST_CASE("an empty machine fails, and each line says how to mend it") {
  const Machine machine;
  const auto checks = check_machine(machine.root(), false);
  CHECK_FALSE(all_pass(checks));
  CHECK(check_named(checks, "systemd").verdict == Verdict::fail);
  CHECK_THAT(check_named(checks, "cgroup v2").remedy, Catch::Contains("systemd.unified_cgroup_hierarchy=1"));
  CHECK_THAT(check_named(checks, "pressure").remedy, Catch::Contains("psi=1"));
}

TEST_CASE("controllers that are not delegated to the user are named with the drop-in that delegates them") {
  Machine machine;
  machine.make_healthy();
  machine.file("/proc/self/cgroup", "0::/user.slice/user-1001.slice/session-3.scope\n");
  machine.file("/sys/fs/cgroup/user.slice/user-1001.slice/user@1001.service/cgroup.controllers", "cpu memory pids\n");
  const auto checks = check_machine(machine.root(), true);
  const auto& check = check_named(checks, "controllers");
  CHECK(check.verdict == Verdict::warn);
  CHECK_THAT(check.finding, Catch::Contains("io cpuset"));
  CHECK_THAT(check.remedy, Catch::Contains("Delegate=cpu cpuset io memory pids"));
  CHECK(all_pass(checks));
}

TEST_CASE("swap is where jobs are parked, and a machine without is told how to get some") {
  Machine machine;
  machine.make_healthy();
  CHECK(check_named(check_machine(machine.root(), false), "swap").finding ==
        "8.0G, 1.0G of it free; a job uses none unless --swap-max allows it, or it is parked");
  machine.file("/proc/meminfo",
               "MemTotal:       65850756 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n");
  const auto checks = check_machine(machine.root(), false);
  const auto& none = check_named(checks, "swap");
  CHECK(none.verdict == Verdict::warn);
  CHECK(all_pass(checks));
  CHECK_THAT(none.finding, Catch::Contains("parked"));
  CHECK_THAT(none.remedy, Catch::Contains("fallocate -l 31G /swapfile") && Catch::Contains("mkswap") &&
                              Catch::Contains("swapon") && Catch::Contains("/etc/fstab"));
  // Neither of a tiny machine nor of a huge one.
  machine.file("/proc/meminfo", "MemTotal: 1000000 kB\n");
  CHECK_THAT(check_named(check_machine(machine.root(), false), "swap").remedy, Catch::Contains("-l 2G "));
  machine.file("/proc/meminfo", "MemTotal: 2113929216 kB\n");
  CHECK_THAT(check_named(check_machine(machine.root(), false), "swap").remedy, Catch::Contains("-l 64G "));
}

TEST_CASE("how much of the running jobs could be parked") {
  Machine machine;
  machine.make_healthy();
  const auto holding = [](std::uint64_t anon, std::uint64_t shmem) {
    return mljobd::core::ValueMap{{"usage", Value(mljobd::core::ValueMap{{"memory_anon", Value(anon << 20U)},
                                                                         {"memory_shmem", Value(shmem << 20U)},
                                                                         {"memory_file", Value(1ULL << 40U)}})}};
  };
  const auto fits = check_parking(machine.root(), {holding(512, 256), holding(256, 0)});
  CHECK(fits.verdict == Verdict::ok);
  CHECK(fits.finding == "running jobs hold 1.0G that swap could take, and it has 1.0G free");
  const auto does_not = check_parking(machine.root(), {holding(512, 256), holding(256, 1)});
  CHECK(does_not.verdict == Verdict::warn);
  CHECK_THAT(does_not.finding, Catch::Contains("only 1.0G of it are free"));
  CHECK(check_parking(machine.root(), {}).verdict == Verdict::ok);
  machine.file("/proc/meminfo", "SwapFree: 0 kB\n");
  CHECK_THAT(check_parking(machine.root(), {holding(1, 0)}).finding, Catch::Contains("none of it is free"));
}

TEST_CASE("without memory control nothing is isolated") {
  Machine machine;
  machine.make_healthy();
  machine.file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids\n");
  CHECK(check_named(check_machine(machine.root(), false), "controllers").verdict == Verdict::fail);
  // "cpuset" is not "cpu".
  machine.file("/sys/fs/cgroup/cgroup.controllers", "cpuset memory io pids\n");
  CHECK(check_named(check_machine(machine.root(), false), "controllers").verdict == Verdict::fail);
}

TEST_CASE("where the user's manager keeps its cgroup") {
  CHECK(user_manager_cgroup("0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n") ==
        "/user.slice/user-1000.slice/user@1000.service");
  CHECK(user_manager_cgroup("1:name=systemd:/\n0::/user.slice/user-7.slice/session-1.scope\n") ==
        "/user.slice/user-7.slice/user@7.service");
  CHECK(user_manager_cgroup("0::/system.slice/ssh.service\n").empty());
  CHECK(user_manager_cgroup("").empty());
}

TEST_CASE("what the daemon says of itself") {
  const mljobd::core::ValueMap properties{{"State", Value("degraded")},
                                          {"Version", Value("0.1.0")},
                                          {"Problems", Value(std::vector<std::string>{"no io controller"})}};
  const auto checks = check_daemon(properties, "0.2.0");
  REQUIRE(checks.size() == 3);
  CHECK(check_named(checks, "version").verdict == Verdict::warn);
  CHECK(checks.back().finding == "no io controller");
  CHECK_FALSE(all_pass(checks));
  CHECK(check_daemon({{"Version", Value("0.1.0")}}, "0.1.0").size() == 1);
}

TEST_CASE("remedies stand below what they mend") {
  CHECK(
      render_checks({{Verdict::ok, "swap", "none", ""}, {Verdict::fail, "bus", "gone", "do this\nand that"}}, false) ==
      "ok   swap        none\n"
      "fail bus         gone\n"
      "     -> do this\n"
      "     -> and that\n");
}
