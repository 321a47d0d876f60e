// Texts of the kernel and of other processes: whatever is in them, every parser returns.
#include <cstdint>
#include <string_view>

#include "kernel/cgroup_parsers.hpp"
#include "kernel/pressure_parsers.hpp"
#include "kernel/process.hpp"
#include "kernel/storage_type.hpp"
#include "systemd/journal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace mljobd;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  static_cast<void>(kernel::parse_flat_keyed(text));
  static_cast<void>(kernel::parse_limit(text));
  static_cast<void>(kernel::parse_cpu_max(text));
  static_cast<void>(kernel::parse_weight(text));
  static_cast<void>(kernel::parse_cpu_list(text));
  static_cast<void>(kernel::parse_io_stat(text));
  static_cast<void>(kernel::parse_stall_totals(text));
  static_cast<void>(kernel::parse_meminfo(text));
  static_cast<void>(kernel::parse_vmstat(text));
  static_cast<void>(kernel::parse_memory_stat(text));
  static_cast<void>(kernel::parse_limit_events(text));
  static_cast<void>(kernel::parse_populated(text));
  static_cast<void>(kernel::parse_cpu_time(text));
  static_cast<void>(kernel::find_mount(text, "/home/alice/data"));
  static_cast<void>(kernel::parse_memory_events(text));
  static_cast<void>(kernel::parse_processes(text));
  static_cast<void>(kernel::parse_unified_cgroup(text));
  const auto half = text.size() / 2;
  static_cast<void>(kernel::parse_process(1, text.substr(0, half), text.substr(half)));
  static_cast<void>(systemd::parse_oom_kill(text));
  return 0;
}
