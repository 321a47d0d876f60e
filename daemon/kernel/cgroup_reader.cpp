#include "kernel/cgroup_reader.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "kernel/cgroup_parsers.hpp"
#include "kernel/files.hpp"
#include "kernel/pressure_parsers.hpp"
#include "kernel/text.hpp"

namespace mljobd::kernel {
namespace {

// Empty when the file cannot be read: the controller is not enabled, or the cgroup is gone.
template <class Parser>
auto read_optional(int directory, const char* name, Parser parse)
    -> std::optional<decltype(parse(std::string_view{}))> {
  const auto text = read_file_at(directory, name);
  if (!text) return std::nullopt;
  return parse(std::string_view(*text));
}

core::Bytes read_bytes(int directory, const char* name) {
  return read_optional(directory, name, parse_number).value_or(std::nullopt).value_or(0);
}

FlatKeyed read_flat_keyed(int directory, const char* name) {
  return read_optional(directory, name, parse_flat_keyed).value_or(FlatKeyed{});
}

std::optional<core::StallTotals> read_pressure(int directory, const char* name) {
  return read_optional(directory, name, parse_stall_totals).value_or(std::nullopt);
}

// Every cgroup has this file, whatever its controllers, until it is removed.
bool exists(int directory) { return ::faccessat(directory, "cgroup.controllers", F_OK, 0) == 0; }

std::vector<std::uint32_t> own_processes(int directory, const std::string& below) {
  constexpr std::size_t bytes_per_line = 8;  // PID_MAX_LIMIT has seven digits
  const auto text =
      read_start_of_file_at(directory, (below + "cgroup.procs").c_str(), Cgroup::max_processes * bytes_per_line);
  return text ? parse_processes(*text) : std::vector<std::uint32_t>{};
}

// Adds the directories right below `below` (relative to `directory`, with a slash at its end or empty).
void add_children(int directory, const std::string& below, std::vector<std::string>& found) {
  auto opened = open_directory(directory, below.empty() ? "." : below.c_str());
  if (!opened) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened->get()), ::closedir);
  if (!stream) return;
  (void)opened->release();  // the stream closes it
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's alone
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
    if (found.size() >= Cgroup::max_cgroups) return;
    found.push_back(below + std::string(name) + "/");
  }
}

}  // namespace

core::Expected<Cgroup> Cgroup::open(const std::string& root, const std::string& path) {
  auto directory = open_cgroup(root, path);
  if (!directory) return tl::unexpected(directory.error());
  return Cgroup(std::move(*directory));
}

core::Expected<core::Usage> Cgroup::usage() const {
  const int directory = directory_.fd.get();
  const FlatKeyed memory = read_flat_keyed(directory, "memory.stat");
  const FlatKeyed cpu = read_flat_keyed(directory, "cpu.stat");
  const IoTotals io = read_optional(directory, "io.stat", parse_io_stat).value_or(IoTotals{});
  core::Usage usage{.memory_current = read_bytes(directory, "memory.current"),
                    .memory_peak = read_bytes(directory, "memory.peak"),
                    .memory_anon = value_of(memory, "anon"),
                    .memory_file = value_of(memory, "file"),
                    .memory_shmem = value_of(memory, "shmem"),
                    .swap_current = read_bytes(directory, "memory.swap.current"),
                    .cpu_time = core::Microseconds(static_cast<core::Microseconds::rep>(value_of(cpu, "usage_usec"))),
                    .io_read = io.read,
                    .io_written = io.written,
                    .tasks = read_bytes(directory, "pids.current"),
                    .cpu_periods = value_of(cpu, "nr_periods"),
                    .cpu_throttled_periods = value_of(cpu, "nr_throttled")};
  if (const auto waited = read_pressure(directory, "cpu.pressure")) usage.cpu_waiting = waited->some;
  if (const auto waited = read_pressure(directory, "io.pressure")) {
    usage.io_waiting = waited->some;
    usage.io_stalled = waited->full;
  }
  if (const auto waited = read_pressure(directory, "memory.pressure")) {
    usage.memory_waiting = waited->some;
    usage.memory_stalled = waited->full;
  }
  usage.memory_peak = std::max(usage.memory_peak, usage.memory_current);
  // Asked last: what was removed in between must not pass for a job that used nothing.
  if (!exists(directory)) return tl::unexpected<core::Error>(cgroup_is_gone(directory_.path));
  return usage;
}

core::EffectiveLimits Cgroup::effective_limits() const {
  const int directory = directory_.fd.get();
  const auto limit = [directory](const char* name) {
    return read_optional(directory, name, parse_limit).value_or(std::nullopt);
  };
  const auto weight = [directory](const char* name) {
    return read_optional(directory, name, parse_weight).value_or(std::nullopt);
  };
  return {.memory_max = limit("memory.max"),
          .memory_high = limit("memory.high"),
          .memory_low = limit("memory.low"),
          .swap_max = limit("memory.swap.max"),
          .tasks_max = limit("pids.max"),
          .cpu_weight = weight("cpu.weight"),
          .io_weight = weight("io.weight"),
          .cpu_quota_percent = read_optional(directory, "cpu.max", parse_cpu_max).value_or(std::nullopt),
          .cpu_list = read_optional(directory, "cpuset.cpus.effective", parse_cpu_list)};
}

std::optional<core::MemoryEvents> Cgroup::memory_events() const {
  return read_optional(directory_.fd.get(), "memory.events", parse_memory_events);
}

std::optional<core::MemoryEvents> Cgroup::memory_events_local() const {
  return read_optional(directory_.fd.get(), "memory.events.local", parse_memory_events);
}

std::optional<core::Bytes> Cgroup::memory_low() const {
  return read_optional(directory_.fd.get(), "memory.low", parse_limit).value_or(std::nullopt);
}

std::optional<core::Bytes> Cgroup::memory_max() const {
  return read_optional(directory_.fd.get(), "memory.max", parse_limit).value_or(std::nullopt);
}

bool Cgroup::populated() const {
  return value_of(read_flat_keyed(directory_.fd.get(), "cgroup.events"), "populated") > 0;
}

bool Cgroup::frozen() const { return value_of(read_flat_keyed(directory_.fd.get(), "cgroup.events"), "frozen") > 0; }

std::vector<std::uint32_t> Cgroup::processes(bool recursive) const {
  const int directory = directory_.fd.get();
  std::vector<std::string> places{""};  // relative to the directory; grows while it is walked through
  std::vector<std::uint32_t> processes;
  for (std::size_t index = 0; index < places.size() && processes.size() < max_processes; ++index) {
    const std::string place = places[index];
    const auto found = own_processes(directory, place);
    const std::size_t count = std::min(found.size(), max_processes - processes.size());
    processes.insert(processes.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
    if (recursive) add_children(directory, place, places);
  }
  return processes;
}

core::Expected<void> Cgroup::kill_all() const {
  const auto written = write_file_at(directory_.fd.get(), "cgroup.kill", "1");
  if (written || !exists(directory_.fd.get())) return {};
  return core::failure(core::ErrorCode::service_manager,
                       "cannot kill the processes of " + directory_.path + ": " + written.error().message);
}

}  // namespace mljobd::kernel
