#include "kernel/cpu_topology_reader.hpp"

#include <string>

#include <catch2/catch.hpp>
#include <sched.h>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

using core::CpuList;
using core::CpuTopology;

const std::string cpus = "sys/devices/system/cpu/";
const std::string nodes = "sys/devices/system/node/";
const std::string allowed = "sys/fs/cgroup/cpuset.cpus.effective";

// Four cores of two threads on two nodes, as QEMU and most servers number them: 0-3 and 4-7.
class Machine {
 public:
  Machine() {
    write(cpus + "online", "0-7\n");
    write(cpus + "isolated", "\n");
    write(allowed, "0-7\n");
    for (const auto& [first, second] : {std::pair{"0", "4"}, {"1", "5"}, {"2", "6"}, {"3", "7"}}) {
      const std::string list = std::string(first) + "," + second + "\n";
      for (const auto* cpu : {first, second}) write(topology(cpu) + "core_cpus_list", list);
    }
    write(nodes + "online", "0-1\n");
    write(nodes + "node0/cpulist", "0-1,4-5\n");
    write(nodes + "node1/cpulist", "2-3,6-7\n");
  }

  void write(const std::string& name, const std::string& text) const { write_text(root_ / name, text); }
  void remove(const std::string& name) const { REQUIRE(std::filesystem::remove_all(root_ / name) > 0); }
  static std::string topology(const std::string& cpu) { return cpus + "cpu" + cpu + "/topology/"; }
  [[nodiscard]] CpuTopology read(const std::string& own_cgroup = "") const {
    return read_cpu_topology(root_.path(), own_cgroup);
  }

 private:
  TemporaryDirectory root_;
};

const CpuTopology whole{.cores = {{.cpus = {0, 4}, .node = 0},
                                  {.cpus = {1, 5}, .node = 0},
                                  {.cpus = {2, 6}, .node = 1},
                                  {.cpus = {3, 7}, .node = 1}}};

// Every CPU a core, all on node 0.
CpuTopology simple(const CpuList& list) {
  CpuTopology topology;
  for (const auto cpu : list) topology.cores.push_back({.cpus = {cpu}});
  return topology;
}

TEST_CASE("siblings and nodes are read from sysfs") {
  const Machine machine;
  CHECK(machine.read() == whole);
  CHECK(numa_nodes(machine.read()) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("kernels before 5.3 name the siblings otherwise") {
  const Machine machine;
  for (int cpu = 0; cpu < 8; ++cpu) {
    const auto directory = Machine::topology(std::to_string(cpu));
    const auto list = std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4) + "\n";
    machine.remove(directory + "core_cpus_list");
    machine.write(directory + "thread_siblings_list", list);
  }
  CHECK(machine.read() == whole);
}

TEST_CASE("offline and isolated CPUs, and those of others, are not for jobs") {
  const Machine machine;
  machine.write(cpus + "online", "0-2,4-7\n");
  machine.write(cpus + "isolated", "2,6\n");
  machine.write(allowed, "1-7\n");
  CHECK(machine.read() ==
        CpuTopology{.cores = {{.cpus = {1, 5}, .node = 0}, {.cpus = {4}, .node = 0}, {.cpus = {7}, .node = 1}}});
}

TEST_CASE("a restriction that would leave nothing is none") {
  const Machine machine;
  machine.write(cpus + "isolated", "0-7\n");
  CHECK(machine.read() == whole);
  machine.write(allowed, "64-71\n");
  CHECK(machine.read() == whole);
}

TEST_CASE("the nearest cgroup that has a cpuset decides") {
  const Machine machine;
  const std::string own = "user.slice/user-1000.slice/user@1000.service/";
  machine.write("sys/fs/cgroup/user.slice/cpuset.cpus.effective", "0,4\n");
  machine.write("sys/fs/cgroup/" + own + "cgroup.controllers", "cpu memory pids\n");
  CHECK(machine.read(own) == CpuTopology{.cores = {{.cpus = {0, 4}, .node = 0}}});
  CHECK(machine.read("/user.slice") == machine.read(own));
  CHECK(machine.read("system.slice") == whole);
}

TEST_CASE("without topology every CPU is a core of its own, on one node") {
  const Machine machine;
  machine.remove(nodes);
  for (int cpu = 0; cpu < 8; ++cpu) machine.remove(cpus + "cpu" + std::to_string(cpu));
  CHECK(machine.read() == simple({0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_CASE("where nothing tells, this process's affinity does") {
  const TemporaryDirectory empty;
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  CpuList own;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) own.push_back(cpu);
  }
  CHECK(read_cpu_topology(empty.path(), "") == simple(own));
  CHECK(read_cpu_topology("/nonexistent", "a/b") == simple(own));
}

TEST_CASE("a CPU is in one core whatever the files say") {
  const Machine machine;
  machine.write(Machine::topology("0") + "core_cpus_list", "0-2\n");
  machine.write(Machine::topology("3") + "core_cpus_list", "0,9000\n");
  machine.write(Machine::topology("5") + "core_cpus_list", std::string(100'000, '9'));
  machine.write(nodes + "node1/cpulist", "\n");
  CHECK(machine.read() ==
        CpuTopology{
            .cores = {{.cpus = {0, 1, 2}}, {.cpus = {3}}, {.cpus = {4}}, {.cpus = {5}}, {.cpus = {6}}, {.cpus = {7}}}});
}

TEST_CASE("this machine has cores") {
  const auto topology = read_cpu_topology("/", "");
  CHECK_FALSE(topology.cores.empty());
  CHECK(all_cpus(topology).size() >= topology.cores.size());
}

}  // namespace
}  // namespace mljobd::kernel
