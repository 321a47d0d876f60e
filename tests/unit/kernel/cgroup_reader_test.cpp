#include "kernel/cgroup_reader.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

const std::string fixtures = MLJOBD_FIXTURES "/cgroup";
const std::string job_path = "mljob.slice/mljob-train.slice/mljob-train-42.slice";

TEST_CASE("the usage of a job's slice is read") {
  const auto usage = value_of(value_of(Cgroup::open(fixtures, job_path)).usage());
  CHECK(usage == core::Usage{.memory_current = 943718400,
                             .memory_peak = 1073741824,
                             .memory_anon = 734003200,
                             .memory_file = 157286400,
                             .memory_shmem = 104857600,
                             .swap_current = 4096,
                             .cpu_time = core::Microseconds(123456789),
                             .io_read = 5096,
                             .io_written = 8216,
                             .tasks = 17,
                             .cpu_periods = 1200,
                             .cpu_throttled_periods = 310,
                             .cpu_waiting = core::Microseconds(4711000),
                             .io_waiting = core::Microseconds(815),
                             .io_stalled = core::Microseconds(800),
                             .memory_waiting = core::Microseconds(2500000),
                             .memory_stalled = core::Microseconds(900000)});
}

TEST_CASE("controllers that are not enabled count nothing") {
  const auto cgroup = value_of(Cgroup::open(fixtures, "/user.slice"));
  CHECK(value_of(cgroup.usage()) == core::Usage{.cpu_time = core::Microseconds(55)});
  CHECK(cgroup.effective_limits() == core::EffectiveLimits{});
  CHECK_FALSE(cgroup.memory_events());
  CHECK_FALSE(cgroup.memory_events_local());
  CHECK_FALSE(cgroup.memory_max());
  CHECK_FALSE(cgroup.populated());
}

TEST_CASE("the limits in force are read") {
  const auto cgroup = value_of(Cgroup::open(fixtures, job_path));
  CHECK(cgroup.effective_limits() == core::EffectiveLimits{.memory_max = 1073741824,
                                                           .memory_high = core::unlimited,
                                                           .swap_max = 0,
                                                           .tasks_max = 1000,
                                                           .cpu_weight = 700,
                                                           .io_weight = 300,
                                                           .cpu_quota_percent = 150,
                                                           .cpu_list = "0-3,8"});
  CHECK(cgroup.memory_max() == 1073741824U);
}

TEST_CASE("the events of the slice's own limit are told from those below it") {
  const auto cgroup = value_of(Cgroup::open(fixtures, job_path));
  CHECK(cgroup.memory_events() == core::MemoryEvents{.max = 217, .oom = 3, .oom_kill = 2, .oom_group_kill = 1});
  CHECK(cgroup.memory_events_local() == core::MemoryEvents{.max = 217, .oom = 3});
}

TEST_CASE("the processes of a job are found in every unit and container inside its slice") {
  const auto cgroup = value_of(Cgroup::open(fixtures, job_path));
  CHECK(cgroup.populated());
  CHECK(cgroup.processes(false).empty());
  auto processes = cgroup.processes(true);
  std::sort(processes.begin(), processes.end());
  CHECK(processes == std::vector<std::uint32_t>{4101, 4102, 4200});
}

TEST_CASE("a frozen cgroup is told from one that runs and from one that is gone") {
  const TemporaryDirectory root;
  write_text(root / "job/cgroup.events", "populated 1\nfrozen 0\n");
  const auto cgroup = value_of(Cgroup::open(root.path(), "job"));
  CHECK_FALSE(cgroup.frozen());
  write_text(root / "job/cgroup.events", "populated 1\nfrozen 1\n");
  CHECK(cgroup.frozen());
  std::filesystem::remove_all(root / "job");
  CHECK_FALSE(cgroup.frozen());
}

TEST_CASE("a job cannot make the daemon walk without end") {
  const TemporaryDirectory root;
  for (std::size_t index = 0; index < Cgroup::max_cgroups + 50; ++index) {
    write_text(root / ("job/" + std::to_string(index) + "/cgroup.procs"), std::to_string(index + 1) + "\n");
  }
  const auto cgroup = value_of(Cgroup::open(root.path(), "job"));
  CHECK(cgroup.processes(true).size() == Cgroup::max_cgroups - 1);  // the first one is the job's own

  std::string many;
  for (std::size_t index = 1; index <= Cgroup::max_processes; ++index) many += std::to_string(index) + "\n";
  write_text(root / "job/cgroup.procs", many);
  CHECK(cgroup.processes(true).size() == Cgroup::max_processes);
}

TEST_CASE("a new cgroup of the same name is not mistaken for the one that was opened") {
  const TemporaryDirectory root;
  const auto make = [&root](const std::string& current) {
    write_text(root / "job/cgroup.controllers", "memory\n");
    write_text(root / "job/memory.current", current);
    write_text(root / "job/cgroup.events", "populated 1\n");
    write_text(root / "job/cgroup.kill", "");
  };
  make("1000\n");
  const auto old = value_of(Cgroup::open(root.path(), "job"));
  CHECK(value_of(old.usage()).memory_current == 1000);
  CHECK(value_of(old.usage()).memory_peak == 1000);  // no memory.peak before Linux 5.19

  std::filesystem::remove_all(root / "job");
  make("2000\n");
  const auto usage = old.usage();
  REQUIRE_FALSE(usage);
  CHECK(usage.error() == core::Error{core::ErrorCode::invalid_state, "the cgroup job is gone: its job has ended"});
  CHECK_FALSE(old.populated());
  CHECK(old.processes(true).empty());
  CHECK(old.kill_all());
  CHECK(read_text(root / "job/cgroup.kill").empty());
}

TEST_CASE("killing a job is one write, and a refused one is said") {
  const TemporaryDirectory root;
  write_text(root / "job/cgroup.controllers", "");
  const auto cgroup = value_of(Cgroup::open(root.path(), "job"));
  const auto refused = cgroup.kill_all();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == core::ErrorCode::service_manager);

  write_text(root / "job/cgroup.kill", "");
  CHECK(cgroup.kill_all());
  CHECK(read_text(root / "job/cgroup.kill") == "1");
}

TEST_CASE("a path that leaves the hierarchy is refused, one that is not there is gone") {
  const auto code_of = [](const std::string& path) { return Cgroup::open(fixtures, path).error().code; };
  CHECK(code_of("") == core::ErrorCode::invalid_spec);
  CHECK(code_of("/") == core::ErrorCode::invalid_spec);
  CHECK(code_of("..") == core::ErrorCode::invalid_spec);
  CHECK(code_of("user.slice/../../machine") == core::ErrorCode::invalid_spec);
  CHECK(code_of("absent.slice") == core::ErrorCode::invalid_state);
  CHECK(Cgroup::open(fixtures + "/absent", "user.slice").error().code == core::ErrorCode::storage);
}

}  // namespace
}  // namespace mljobd::kernel
