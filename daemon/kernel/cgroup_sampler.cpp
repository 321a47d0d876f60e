#include "kernel/cgroup_sampler.hpp"

#include <array>
#include <cerrno>
#include <initializer_list>

#include "kernel/cgroup_parsers.hpp"
#include "kernel/files.hpp"
#include "kernel/pressure_parsers.hpp"

namespace mljobd::kernel {
namespace {

// memory.stat of Linux 6.1 takes about 1.5 KiB, with 64-bit counters that are all full 2.5.
constexpr std::size_t buffer_size = 8192;

tl::unexpected<core::Error> unreadable(const std::string& path, const char* file, int number) {
  if (number == ENOENT || number == ENODEV) {
    return core::failure(core::ErrorCode::storage, "the cgroup " + path + " has no " + file +
                                                       ": its memory cannot be watched without the memory controller "
                                                       "(`jobctl doctor` says what this machine lacks)");
  }
  return tl::unexpected<core::Error>(file_failure("read", path + "/" + file, number != 0 ? number : EIO).value());
}

}  // namespace

CgroupSampler::CgroupSampler(const CgroupDirectory& directory)
    : path_(directory.path),
      id_(directory.id),
      current_(directory.fd.get(), "memory.current"),
      stat_(directory.fd.get(), "memory.stat"),
      swap_(directory.fd.get(), "memory.swap.current"),
      high_(directory.fd.get(), "memory.high"),
      max_(directory.fd.get(), "memory.max"),
      limit_events_(directory.fd.get(), "memory.events"),
      memory_pressure_(directory.fd.get(), "memory.pressure"),
      io_pressure_(directory.fd.get(), "io.pressure"),
      cpu_(directory.fd.get(), "cpu.stat"),
      cgroup_events_(directory.fd.get(), "cgroup.events") {}

core::Expected<CgroupSampler> CgroupSampler::open(const std::string& root, const std::string& path) {
  const auto directory = open_cgroup(root, path);
  if (!directory) return tl::unexpected(directory.error());
  CgroupSampler sampler(*directory);
  // A file that this kernel does not have, or a controller that is not enabled, is one thing; a job that is watched
  // with half of its files, because the descriptors ran out at the third, another.
  for (const HeldFile* file :
       {&sampler.current_, &sampler.stat_, &sampler.swap_, &sampler.high_, &sampler.max_, &sampler.limit_events_,
        &sampler.memory_pressure_, &sampler.io_pressure_, &sampler.cpu_, &sampler.cgroup_events_}) {
    const int number = file->error();
    if (number == EMFILE || number == ENFILE || number == ENOMEM) {
      return tl::unexpected<core::Error>(file_failure("open the files of", sampler.path_, number).value());
    }
  }
  // Makes the kernel take the page of each file now rather than under pressure.
  if (const auto first = sampler.sample(); !first) return tl::unexpected(first.error());
  return sampler;
}

core::Expected<core::CgroupMemory> CgroupSampler::sample() const {
  std::array<char, buffer_size> buffer;
  const auto text = [&buffer](const HeldFile& file) { return file.read_piece(buffer).text; };
  const HeldText current_text = current_.read_piece(buffer);
  const auto current = parse_number(current_text.text);
  const HeldText stat_text = stat_.read_piece(buffer);
  const MemoryStat stat = parse_memory_stat(stat_text.text);
  core::CgroupMemory memory{.current = current.value_or(0),
                            .anon = stat.anon,
                            .file = stat.file,
                            .shmem = stat.shmem,
                            .swap = parse_number(text(swap_)).value_or(0),
                            .unreclaimable_kernel = stat.unreclaimable_kernel,
                            .high = parse_limit(text(high_)).value_or(core::unlimited),
                            .max = parse_limit(text(max_)).value_or(core::unlimited),
                            .scanned_pages = stat.scanned_pages,
                            .refaulted_anon_pages = stat.refaulted_anon_pages,
                            .refaulted_file_pages = stat.refaulted_file_pages,
                            .cpu_time = parse_cpu_time(text(cpu_)),
                            .memory_stalls = parse_stall_totals(text(memory_pressure_)),
                            .io_stalls = parse_stall_totals(text(io_pressure_))};
  const LimitEvents events = parse_limit_events(text(limit_events_));
  memory.high_events = events.high;
  memory.oom_kills = events.oom_kill;
  // Asked last: what was removed in between must not pass for a job that used nothing. Every cgroup has this file to
  // its end; those of a controller go when PID 1 takes the controller away.
  const HeldText last = cgroup_events_.read_piece(buffer);
  if (last.error != 0) return tl::unexpected(cgroup_is_gone(path_));
  memory.populated = parse_populated(last.text);
  if (!current) return unreadable(path_, "memory.current", current_text.error);
  if (stat_text.error != 0) return unreadable(path_, "memory.stat", stat_text.error);
  return memory;
}

}  // namespace mljobd::kernel
