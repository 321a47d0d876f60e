#include "core/cpu_partition.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <catch2/catch.hpp>

using namespace mljobd::core;

namespace {

struct Shape {
  std::uint32_t nodes = 1;
  std::uint32_t cores_per_node = 1;
  std::uint32_t threads = 1;
};

// Siblings as Linux numbers them on most machines: first one thread of every core, then the second of every core.
CpuTopology machine(Shape shape) {
  const std::uint32_t cores = shape.nodes * shape.cores_per_node;
  CpuTopology topology;
  for (std::uint32_t core = 0; core < cores; ++core) {
    PhysicalCore physical{.node = core / shape.cores_per_node};
    for (std::uint32_t thread = 0; thread < shape.threads; ++thread) physical.cpus.push_back(thread * cores + core);
    topology.cores.push_back(std::move(physical));
  }
  return topology;
}

CpuList chosen(const CpuTopology& topology, const CoreAllocations& present, std::uint32_t cores) {
  const auto cpus = choose_cores(topology, present, cores);
  REQUIRE(cpus);
  return *cpus;
}

std::set<std::uint32_t> nodes_of(const CpuTopology& topology, const CpuList& cpus) {
  std::set<std::uint32_t> nodes;
  for (const auto& core : topology.cores) {
    if (overlap(core.cpus, cpus)) nodes.insert(core.node);
  }
  return nodes;
}

}  // namespace

TEST_CASE("what can be reserved leaves one core, and nothing of a machine that has one") {
  CHECK(cores_for_jobs(CpuTopology{}) == 0);
  CHECK(cores_for_jobs(machine({1, 1, 2})) == 0);
  CHECK(cores_for_jobs(machine({1, 2, 1})) == 1);
  CHECK(cores_for_jobs(machine({2, 2, 2})) == 3);
  CHECK(cores_for_jobs(machine({2, 32, 2})) == 63);
  CHECK_FALSE(choose_cores(machine({1, 1, 2}), {}, 1));
  CHECK_FALSE(choose_cores(machine({1, 8, 2}), {}, 8));
  CHECK_FALSE(choose_cores(machine({1, 8, 2}), {}, 0));
}

TEST_CASE("the machine of the scenario: four cores of two threads on two nodes") {
  const auto topology = machine({2, 2, 2});
  const std::vector<CoreRequest> requests{{.job = 1, .cores = 1}, {.job = 2, .cores = 2}, {.job = 3, .cores = 1}};
  const auto partition = partition_cores(topology, {}, requests);
  CHECK(partition.reserved == CoreAllocations{{1, {1, 5}}, {2, {2, 3, 6, 7}}});
  CHECK(partition.shared == CpuList{0, 4});
  CHECK(partition.unplaced == std::vector<JobId>{3});
  CHECK(shared_cpus(topology, {{2, {2, 3, 6, 7}}}) == CpuList{0, 1, 4, 5});
}

TEST_CASE("a node with just enough room is preferred to one with more") {
  const auto topology = machine({2, 4, 1});  // 0-3, 4-7; core 0 is the system's
  CHECK(chosen(topology, {}, 3) == CpuList{1, 2, 3});
  CHECK(chosen(topology, {}, 4) == CpuList{4, 5, 6, 7});
  CHECK(chosen(topology, {{9, {4, 5}}}, 2) == CpuList{6, 7});
  CHECK(chosen(topology, {{9, {1}}}, 2) == CpuList{2, 3});
}

TEST_CASE("what fits no node takes as few as possible") {
  const auto topology = machine({3, 4, 1});
  CHECK(chosen(topology, {}, 5) == CpuList{1, 4, 5, 6, 7});
  CHECK(chosen(topology, {}, 8) == CpuList{4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(chosen(topology, {}, 11) == CpuList{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(chosen(topology, {{9, {4, 5}}, {10, {8}}}, 4) == CpuList{1, 2, 3, 6});
}

TEST_CASE("cores of one job are close together, and the lowest that are") {
  const auto topology = machine({1, 8, 1});
  CHECK(chosen(topology, {{9, {2}}}, 2) == CpuList{3, 4});
  CHECK(chosen(topology, {{9, {2}}}, 1) == CpuList{1});
  CHECK(chosen(topology, {{9, {2, 4, 6}}}, 2) == CpuList{1, 3});
  CHECK(chosen(topology, {{9, {3, 4}}}, 3) == CpuList{5, 6, 7});
}

TEST_CASE("the core that stays is the lowest that is free") {
  // CPU 0 may be somebody else's from before, or not the daemon's at all.
  CHECK(chosen(machine({1, 4, 1}), {{9, {0}}}, 2) == CpuList{2, 3});
  CHECK(shared_cpus(machine({1, 4, 1}), {{9, {0}}, {10, {2, 3}}}) == CpuList{1});
}

TEST_CASE("a job that has its cores is not moved, and one that wants none gets none") {
  const auto topology = machine({1, 4, 2});
  const CoreAllocations present{{5, {3, 7}}};
  const std::vector<CoreRequest> requests{{.job = 5, .cores = 2}, {.job = 6, .cores = 0}, {.job = 7, .cores = 1}};
  const auto partition = partition_cores(topology, present, requests);
  CHECK(partition.reserved == CoreAllocations{{5, {3, 7}}, {7, {1, 5}}});
  CHECK(partition.unplaced.empty());
}

TEST_CASE("kept allocations that still fit come back as they were") {
  const auto topology = machine({2, 4, 2});
  const CoreAllocations kept{{3, {1, 9}}, {4, {4, 5, 12, 13}}, {5, {}}};
  const auto restored = restore_allocations(topology, kept);
  CHECK(restored.reserved == CoreAllocations{{3, {1, 9}}, {4, {4, 5, 12, 13}}});
  CHECK(restored.warnings.empty());
}

TEST_CASE("a job whose CPUs went away keeps what is left, and it is said") {
  auto topology = machine({1, 4, 2});  // cores {0,4} {1,5} {2,6} {3,7}
  topology.cores[1].cpus = {1};        // 5 is offline
  topology.cores.pop_back();           // 3 and 7 are
  const auto restored = restore_allocations(topology, {{3, {1, 5}}, {4, {2, 3, 6, 7}}, {5, {3, 7}}});
  CHECK(restored.reserved == CoreAllocations{{3, {1}}, {4, {2, 6}}});
  REQUIRE(restored.warnings.size() == 3);
  CHECK_THAT(restored.warnings[0], Catch::StartsWith("job 3 had the CPUs 1,5 of its own and has 1 now"));
  CHECK_THAT(restored.warnings[1], Catch::StartsWith("job 4 had the CPUs 2-3,6-7 of its own and has 2,6 now"));
  CHECK_THAT(restored.warnings[2], Catch::StartsWith("job 5 had the CPUs 3,7 of its own and shares now"));
  CHECK_THAT(restored.warnings[2], Catch::Contains("`jobctl requeue 5`"));
}

TEST_CASE("a core has one owner and the last core none, whatever was kept") {
  const auto topology = machine({1, 3, 2});
  const auto restored = restore_allocations(topology, {{3, {0, 3}}, {4, {0, 1, 3, 4}}, {5, {2, 5}}});
  CHECK(restored.reserved == CoreAllocations{{3, {0, 3}}, {4, {1, 4}}});
  CHECK(restored.warnings.size() == 2);
  CHECK(shared_cpus(topology, restored.reserved) == CpuList{2, 5});
}

TEST_CASE("SMT switched on gives a job the siblings of its cores") {
  const auto restored = restore_allocations(machine({1, 4, 2}), {{3, {2}}});
  CHECK(restored.reserved == CoreAllocations{{3, {2, 6}}});
  CHECK(restored.warnings.size() == 1);
}

namespace {

class RandomMachine {
 public:
  explicit RandomMachine(std::uint32_t seed) : random_(seed) {
    topology_ = machine({number(1, 4), number(1, 8), number(1, 2)});
    // Some CPUs are offline or isolated.
    std::erase_if(topology_.cores, [&](const PhysicalCore&) { return number(1, 8) == 1; });
  }

  // A job comes, or one goes, or the daemon restarts.
  void step() {
    const auto kind = number(1, 10);
    if (kind <= 6) {
      arrive();
    } else if (kind <= 9 && !allocations_.empty()) {
      allocations_.erase(std::next(allocations_.begin(), number(0, std::uint32_t(allocations_.size()) - 1)));
    } else {
      const auto restored = restore_allocations(topology_, allocations_);
      CHECK(restored.reserved == allocations_);
      CHECK(restored.warnings.empty());
    }
    check();
  }

 private:
  void arrive() {
    const CoreRequest request{.job = ++last_job_, .cores = number(1, 6)};
    const auto before = allocations_;
    const auto room = cores_for_jobs(topology_) - reserved_cores();
    const auto most = most_on_a_node();
    const auto partition = partition_cores(topology_, before, {&request, 1});
    const bool placed = partition.reserved.contains(request.job);
    CHECK(placed == (request.cores <= room));
    CHECK(partition.unplaced == (placed ? std::vector<JobId>{} : std::vector<JobId>{request.job}));
    // Nobody was moved.
    for (const auto& [job, cpus] : before) CHECK(partition.reserved.at(job) == cpus);
    if (placed) {
      const auto& cpus = partition.reserved.at(request.job);
      CHECK(core_count(topology_, cpus) == request.cores);
      if (request.cores <= most) CHECK(nodes_of(topology_, cpus).size() == 1);
    }
    allocations_ = partition.reserved;
    // The same again, from what is kept: nothing depends on how it came to be.
    CHECK(partition_cores(topology_, allocations_, {&request, placed ? 1U : 0U}).reserved == allocations_);
    CHECK(partition_cores(topology_, before, {&request, 1}).reserved == allocations_);
  }

  [[nodiscard]] std::uint32_t reserved_cores() const {
    std::uint32_t cores = 0;
    for (const auto& [job, cpus] : allocations_) cores += core_count(topology_, cpus);
    return cores;
  }

  // Free cores of the node that has most, less the lowest free one of the machine.
  [[nodiscard]] std::uint32_t most_on_a_node() const {
    const auto shared = shared_cpus(topology_, allocations_);
    std::map<std::uint32_t, std::uint32_t> free;
    bool first = true;
    for (const auto& core : topology_.cores) {
      if (!overlap(core.cpus, shared)) continue;
      if (!std::exchange(first, false)) ++free[core.node];
    }
    std::uint32_t most = 0;
    for (const auto& [node, count] : free) most = std::max(most, count);
    return most;
  }

  void check() const {
    const auto shared = shared_cpus(topology_, allocations_);
    CHECK(shared.empty() == topology_.cores.empty());
    std::multiset<std::uint32_t> given(shared.begin(), shared.end());
    for (const auto& [job, cpus] : allocations_) {
      CHECK(std::is_sorted(cpus.begin(), cpus.end()));
      given.insert(cpus.begin(), cpus.end());
    }
    // Disjoint, and the sharers' are the complement: every CPU is given exactly once.
    const auto all = all_cpus(topology_);
    CHECK(std::vector<std::uint32_t>(given.begin(), given.end()) == all);
    // Whole cores: one owner for all siblings.
    for (const auto& core : topology_.cores) {
      for (const auto& [job, cpus] : allocations_) {
        CHECK((!overlap(core.cpus, cpus) || intersection(core.cpus, cpus) == core.cpus));
      }
    }
  }

  std::uint32_t number(std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(random_);
  }

  std::mt19937 random_;
  CpuTopology topology_{};
  CoreAllocations allocations_{};
  JobId last_job_ = 0;
};

}  // namespace

TEST_CASE("whatever comes and goes: whole cores, one owner each, one node where it fits, nobody moved") {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    RandomMachine random_machine(seed);
    for (int step = 0; step < 40; ++step) random_machine.step();
  }
}
