// What one look at the memory of the machine and of a cgroup costs:
//   mljob-sample-bench                                   the machine, and a cgroup of plain files (without the kernel's
//                                                        share of the work: on a host that has no cgroup v2)
//   mljob-sample-bench /sys/fs/cgroup mljob.slice/…      the machine, and that cgroup
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "kernel/cgroup_sampler.hpp"
#include "kernel/machine_sampler.hpp"

using namespace mljobd;

namespace {

// As long as those of Linux 6.1.
constexpr const char* memory_stat =
    "anon 734003200\nfile 157286400\nkernel 20971520\nkernel_stack 262144\npagetables 2097152\nsec_pagetables 0\n"
    "percpu 4096\nsock 0\nvmalloc 0\nshmem 104857600\nzswap 0\nzswapped 0\nfile_mapped 8192\nfile_dirty 0\n"
    "file_writeback 0\nswapcached 0\nanon_thp 0\nfile_thp 0\nshmem_thp 0\ninactive_anon 838860800\nactive_anon 0\n"
    "inactive_file 1048576\nactive_file 4194304\nunevictable 0\nslab_reclaimable 524288\nslab_unreclaimable 524288\n"
    "slab 1048576\nworkingset_refault_anon 0\nworkingset_refault_file 0\nworkingset_activate_anon 0\n"
    "workingset_activate_file 0\nworkingset_restore_anon 0\nworkingset_restore_file 0\nworkingset_nodereclaim 0\n"
    "pgscan 0\npgsteal 0\npgscan_kswapd 0\npgscan_direct 0\npgsteal_kswapd 0\npgsteal_direct 0\npgfault 218403\n"
    "pgmajfault 12\npgrefill 0\npgactivate 0\npgdeactivate 0\npglazyfree 0\npglazyfreed 0\nthp_fault_alloc 0\n"
    "thp_collapse_alloc 0\n";
constexpr const char* pressure =
    "some avg10=1.50 avg60=0.80 avg300=0.20 total=4711000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=17\n";

void make_cgroup(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  const auto write = [&directory](const char* name, const char* text) { std::ofstream(directory / name) << text; };
  write("memory.current", "943718400\n");
  write("memory.stat", memory_stat);
  write("memory.swap.current", "0\n");
  write("memory.high", "max\n");
  write("memory.max", "1073741824\n");
  write("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n");
  write("memory.pressure", pressure);
  write("io.pressure", pressure);
  write("cpu.stat", "usage_usec 123456789\nuser_usec 120000000\nsystem_usec 3456789\nnr_periods 0\n");
  write("cgroup.events", "populated 1\nfrozen 0\n");
}

template <class Sample>
double nanoseconds_per_sample(Sample sample) {
  using Clock = std::chrono::steady_clock;
  constexpr int batch = 50;
  const auto start = Clock::now();
  const auto end = start + std::chrono::milliseconds(500);
  double count = 0;
  while (Clock::now() < end) {
    for (int index = 0; index < batch; ++index) sample();
    count += batch;
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / count;
}

int fail(const core::Error& error) {
  std::fprintf(stderr, "mljob-sample-bench: %s\n", error.message.c_str());
  return EXIT_FAILURE;
}

int measure_cgroups(const std::string& root, const std::string& path) {
  for (const std::size_t jobs : {std::size_t{1}, std::size_t{10}, std::size_t{100}, std::size_t{500}}) {
    std::vector<kernel::CgroupSampler> samplers;
    for (std::size_t index = 0; index < jobs; ++index) {
      auto sampler = kernel::CgroupSampler::open(root, path);
      if (!sampler) return fail(sampler.error());
      samplers.push_back(std::move(*sampler));
    }
    std::size_t next = 0;
    const double cost = nanoseconds_per_sample([&] {
      (void)samplers[next].sample();
      if (++next == samplers.size()) next = 0;
    });
    std::printf("cgroup   %4zu jobs  %7.0f ns a job  %5zu descriptors  %6.3f %% of a core at 1 Hz\n", jobs, cost,
                jobs * kernel::CgroupSampler::descriptors, cost * static_cast<double>(jobs) / 1e9 * 100);
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const auto machine = kernel::MachineSampler::open();
  if (!machine) return fail(machine.error());
  std::printf("machine             %7.0f ns\n", nanoseconds_per_sample([&] { (void)machine->sample(); }));
  if (argc > 2) return measure_cgroups(argv[1], argv[2]);
  const auto root = std::filesystem::temp_directory_path() / ("mljob-sample-bench-" + std::to_string(::getpid()));
  make_cgroup(root / "job");
  const int code = measure_cgroups(root, "job");
  std::filesystem::remove_all(root);
  return code;
}
