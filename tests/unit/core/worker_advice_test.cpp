#include "core/worker_advice.hpp"

#include <tuple>

#include <catch2/catch.hpp>

using namespace mljobd::core;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

// Cores of two threads on one node: core n has the CPUs n and n + cores.
CpuTopology machine(std::uint32_t cores) {
  CpuTopology topology;
  for (std::uint32_t core = 0; core < cores; ++core) topology.cores.push_back({.cpus = {core, core + cores}});
  return topology;
}

Advice advice_for(std::uint32_t cores, std::uint32_t jobs, const Storage& storage = {}) {
  const auto advice = advise_machine(machine(cores), jobs, storage);
  REQUIRE(advice);
  return *advice;
}

using Environment = std::vector<std::string>;

}  // namespace

TEST_CASE("the fifteen rows of the table") {
  const auto [cores, processes, workers] = GENERATE(table<std::uint32_t, std::uint32_t, std::uint32_t>({
      {4, 1, 3},
      {4, 2, 2},
      {4, 4, 1},
      {8, 1, 7},
      {8, 2, 4},
      {8, 4, 2},
      {8, 8, 1},
      {16, 1, 15},
      {16, 2, 8},
      {16, 4, 4},
      {16, 8, 2},
      {32, 1, 31},
      {32, 4, 8},
      {32, 8, 4},
      {32, 16, 2},
  }));
  CHECK(num_workers(cores, processes) == workers);
  CHECK(advice_for(cores, processes).num_workers == workers);
}

TEST_CASE("between and beyond the rows it is rounded down, and never below one") {
  CHECK(num_workers(16, 3) == 5);
  CHECK(num_workers(4, 100) == 1);
  CHECK(num_workers(1, 1) == 1);
  CHECK(num_workers(2, 1) == 1);
  CHECK(num_workers(0, 0) == 1);
  CHECK(num_workers(8, 0) == 7);
}

TEST_CASE("a job with cores of its own counts them, whoever else runs") {
  const auto allotment = cpu_allotment(machine(8), {2, 3, 10, 11}, {0, 1, 8, 9}, {}, 5);
  CHECK(allotment == CpuAllotment{.cpus = 4, .cores = 2, .reserved = true, .sharing_jobs = 1});
  CHECK(usable_cpus(allotment) == 4);
  CHECK(num_workers(allotment) == 1);
}

TEST_CASE("jobs that share divide the cores that are shared") {
  const auto allotment = cpu_allotment(machine(8), {}, {0, 1, 2, 3, 8, 9, 10, 11}, {}, 2);
  CHECK(allotment == CpuAllotment{.cpus = 8, .cores = 4, .sharing_jobs = 2});
  CHECK(num_workers(allotment) == 2);
  CHECK(cpu_allotment(machine(8), {}, {0}, {}, 0).sharing_jobs == 1);
}

TEST_CASE("a list of CPUs that the owner chose narrows what a job shares") {
  const auto cpus = [](const char* list, const CpuList& reserved) {
    return cpu_allotment(machine(4), reserved, {0, 1, 2, 4, 5, 6}, {.cpu_list = list}, 1);
  };
  CHECK(cpus("1,6", {}).cpus == 2);
  CHECK(cpus("1,6", {}).cores == 2);
  CHECK(cpus("1,5,3", {}).cpus == 2);  // 3 is another's
  CHECK(cpus("1,5,3", {}).cores == 1);
  CHECK(cpus("3,7", {}).cpus == 6);  // all of it is: it shares like those that asked for nothing
  CHECK(cpus("1,5,3", {0, 4}).cpus == 2);
  CHECK(cpus("100", {}).cpus == 6);  // none of this machine: systemd refuses the job, the numbers are of the others
}

TEST_CASE("a quota counts in whole CPUs, at least one, and never more than there are") {
  const auto [quota, threads, workers] = GENERATE(table<std::uint32_t, std::uint32_t, std::uint32_t>({
      {50, 1, 1},
      {100, 1, 1},
      {399, 3, 2},
      {400, 4, 3},
      {1600, 8, 3},
  }));
  const CpuAllotment allotment{.cpus = 8, .cores = 4, .quota_percent = quota};
  CHECK(usable_cpus(allotment) == threads);
  CHECK(num_workers(allotment) == workers);
}

TEST_CASE("a job that shares is told its numbers and keeps its libraries' choice of threads") {
  CHECK(cpu_environment({.cpus = 8, .cores = 4}, {}) == Environment{"MLJOB_CPUS=8", "MLJOB_NUM_WORKERS=3"});
}

TEST_CASE("cores of one's own and quotas set the threads, where the user has not") {
  CHECK(cpu_environment({.cpus = 4, .cores = 2, .reserved = true}, Environment{}) ==
        Environment{"MLJOB_CPUS=4", "MLJOB_NUM_WORKERS=1", "OMP_NUM_THREADS=4", "MKL_NUM_THREADS=4",
                    "OPENBLAS_NUM_THREADS=4", "NUMEXPR_NUM_THREADS=4", "PYTHON_CPU_COUNT=4"});
  const Environment own{"MKL_NUM_THREADS=1", "OMP_NUM_THREADS=", "PYTHON_CPU_COUNTER=9", "XOPENBLAS_NUM_THREADS=9"};
  CHECK(cpu_environment({.cpus = 8, .cores = 8, .quota_percent = 250}, own) ==
        Environment{"MLJOB_CPUS=2", "MLJOB_NUM_WORKERS=1", "OPENBLAS_NUM_THREADS=2", "NUMEXPR_NUM_THREADS=2",
                    "PYTHON_CPU_COUNT=2"});
}

TEST_CASE("the advice for a machine says how it came about") {
  const auto one = advice_for(8, 1);
  CHECK(one.threads == 16);
  CHECK(one.cores == 8);
  CHECK(one.cpus == 16);
  REQUIRE(one.findings.size() == 1);
  CHECK(one.findings[0].evidence ==
        "16 logical CPUs, 8 physical cores, 1 NUMA node, 1 training job: one core is for the operating system and the "
        "training itself, 7 for workers");
  CHECK_THAT(one.findings[0].command, EndsWith("--num-workers 7"));

  CHECK_THAT(advice_for(8, 2).findings[0].evidence, EndsWith("2 training jobs: 8 / 2 = 4 for each"));
  CHECK_THAT(advice_for(4, 9).findings[0].evidence, EndsWith("4 / 9 = 1 at least for each"));
  CHECK_THAT(advice_for(4, 9).findings[0].effect, EndsWith("would only take turns"));
  CHECK_THAT(advice_for(8, 2).findings[0].effect, StartsWith("no two workers"));
  CHECK_THAT(advice_for(1, 1).findings[0].evidence, Contains("all work takes turns on one core"));
  CHECK(advice_for(8, 5).threads == 3);
  CHECK(advice_for(2, 100).threads == 1);
}

TEST_CASE("the storage is named, and says in which direction to go") {
  const auto storage_finding = [](const Storage& storage) {
    const auto advice = advice_for(8, 2, storage);
    CHECK(advice.num_workers == 4);  // the table stays
    REQUIRE(advice.findings.size() == 2);
    return advice.findings[1];
  };
  const auto nvme = storage_finding({.type = StorageType::nvme, .device = "nvme0n1"});
  CHECK(nvme.evidence == "the data is on NVMe (nvme0n1)");
  CHECK_THAT(nvme.effect, Contains("up to num_workers 5"));
  CHECK_THAT(nvme.command, EndsWith("--num-workers 5"));
  const auto hdd = storage_finding({.type = StorageType::hdd, .device = "sda"});
  CHECK(hdd.evidence == "the data is on a hard disk (sda)");
  CHECK_THAT(hdd.effect, Contains("num_workers 2 is likely"));
  const auto ssd = storage_finding({.type = StorageType::ssd, .device = "sdb"});
  CHECK(ssd.effect == "it does not limit num_workers 4");
  CHECK(ssd.command.empty());
  CHECK_THAT(storage_finding({.type = StorageType::network}).effect, Contains("up to num_workers 8"));
  CHECK(storage_finding({.type = StorageType::memory}).evidence == "the data is on a file system in memory");
  CHECK(storage_finding({.type = StorageType::hdd, .device = "vda"}).evidence ==
        "the data is on a hard disk (vda), as the virtual machine's host has it; what is behind it may be faster");
  const Storage disk{.type = StorageType::hdd, .device = "sda"};
  CHECK(advice_for(2, 1, disk).findings[1].effect == "more readers than num_workers 1 would move its heads");
  CHECK(advice_for(2, 1, disk).findings[1].command.empty());
}

TEST_CASE("a number of jobs that cannot be is refused") {
  const auto jobs = GENERATE(0U, most_advised_jobs + 1);
  const auto refused = advise_machine(machine(4), jobs, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_spec);
  CHECK_THAT(refused.error().message, Contains("1 to 10000, not " + std::to_string(jobs)));
}

TEST_CASE("a machine of which nothing is known has one core") {
  const auto advice = advise_machine({}, 1, {});
  REQUIRE(advice);
  CHECK(std::tuple(advice->num_workers, advice->threads, advice->cores) == std::tuple(1U, 1U, 1U));
}

TEST_CASE("the view has the keys of the contract, and the lists belong together") {
  Advice advice{.job = 7, .jobs = 2, .num_workers = 4, .threads = 3, .cores = 8, .cpus = 16};
  advice.storage = {.type = StorageType::ssd, .device = "sda"};
  advice.findings = {{"seen", "gain", "type this"}, {"seen too", "gain more", ""}};
  using Texts = std::vector<std::string>;
  CHECK(advice_view(advice) == ValueMap{{"job", 7U},
                                        {"jobs", 2U},
                                        {"num_workers", 4U},
                                        {"threads", 3U},
                                        {"cores", 8U},
                                        {"cpus", 16U},
                                        {"storage", "ssd"},
                                        {"storage_device", "sda"},
                                        {"evidence", Texts{"seen", "seen too"}},
                                        {"effects", Texts{"gain", "gain more"}},
                                        {"commands", Texts{"type this", ""}}});
}
