#include "kernel/machine_sampler.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "kernel/machine.hpp"
#include "kernel/pressure_parsers.hpp"
#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

const std::string fixtures = MLJOBD_FIXTURES "/machine";

TEST_CASE("the machine's memory is sampled from three files") {
  const TemporaryDirectory root;
  write_text(root / "proc/meminfo", "MemTotal: 2000 kB\nMemAvailable: 100 kB\nSwapTotal: 1000 kB\nSwapFree: 900 kB\n");
  write_text(root / "proc/vmstat", "workingset_refault_anon 3\nworkingset_refault_file 4\npgscan_kswapd 5\n");
  write_text(root / "proc/pressure/memory", "some avg10=0.00 total=60\nfull avg10=0.00 total=50\n");
  const auto sampler = value_of(MachineSampler::open(root.path()));
  constexpr core::Bytes kibibyte = 1024;
  const core::MachineMemory expected{
      .total = 2000 * kibibyte,
      .available = 100 * kibibyte,
      .swap_total = 1000 * kibibyte,
      .swap_free = 900 * kibibyte,
      .scanned_pages = 5,
      .refaulted_anon_pages = 3,
      .refaulted_file_pages = 4,
      .memory_stalls = core::StallTotals{core::Microseconds(60), core::Microseconds(50)}};
  CHECK(value_of(sampler.sample()) == expected);
  write_text(root / "proc/meminfo", "MemTotal: 2000 kB\nMemAvailable: 7 kB\n");
  CHECK(value_of(sampler.sample()).available == 7 * kibibyte);
}

TEST_CASE("this machine is sampled, whichever page of vmstat its counters stand on") {
  const auto sampler = value_of(MachineSampler::open());
  const auto before = parse_vmstat(read_text("/proc/vmstat"));
  const auto memory = value_of(sampler.sample());
  const auto after = parse_vmstat(read_text("/proc/vmstat"));
  CHECK(memory.total == value_of(read_machine()).total_memory);
  CHECK(memory.available > 0);
  CHECK(memory.memory_stalls.has_value() == read_platform("/", "").psi);
  CHECK(before.scanned_pages <= memory.scanned_pages);
  CHECK(memory.scanned_pages <= after.scanned_pages);
  CHECK(before.refaulted_file_pages <= memory.refaulted_file_pages);
  CHECK(memory.refaulted_file_pages <= after.refaulted_file_pages);
}

TEST_CASE("without PSI the machine is watched by what is available") {
  const TemporaryDirectory root;
  write_text(root / "proc/meminfo", "MemTotal: 2000 kB\nMemAvailable: 100 kB\n");
  const auto memory = value_of(value_of(MachineSampler::open(root.path())).sample());
  CHECK_FALSE(memory.memory_stalls);
  CHECK(memory.scanned_pages == 0);
}

TEST_CASE("a machine that does not tell its memory cannot be watched") {
  CHECK(MachineSampler::open(fixtures + "/hybrid").error().message ==
        "/proc/meminfo does not tell MemTotal and MemAvailable");
  const TemporaryDirectory root;
  CHECK(MachineSampler::open(root.path()).error() ==
        core::Error{core::ErrorCode::storage, "cannot read /proc/meminfo: No such file or directory"});
  CHECK(MachineSampler::open(root / "absent").error().code == core::ErrorCode::storage);
}

}  // namespace
}  // namespace mljobd::kernel
