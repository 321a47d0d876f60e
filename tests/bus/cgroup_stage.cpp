#include "cgroup_stage.hpp"

#include <filesystem>
#include <fstream>

namespace mljobd::test {
namespace {

// In place, as the daemon holds the files open, and never shorter than before, as it may be reading them.
void write(const std::filesystem::path& path, const std::string& text) {
  const auto mode = std::filesystem::exists(path) ? std::ios::in | std::ios::out : std::ios::out;
  std::fstream(path, mode) << text << std::flush;
}

// As wide as any, so that each new text has the length of the one before.
std::string number(std::uint64_t value) {
  constexpr std::size_t width = 20;
  std::string digits = std::to_string(value);
  return std::string(width - digits.size(), '0') + digits + "\n";
}

std::string stalls(std::uint64_t total) {
  const std::string rest = " avg10=0.00 avg60=0.00 avg300=0.00 total=" + number(total);
  return "some" + rest + "full" + rest;
}

}  // namespace

void stage_memory(const std::string& root, const std::string& cgroup, const StagedMemory& memory) {
  const auto directory = std::filesystem::path(root) / cgroup;
  std::filesystem::create_directories(directory);
  write(directory / "cgroup.controllers", "cpu memory\n");
  write(directory / "cgroup.events", memory.populated ? "populated 1\nfrozen 0\n" : "populated 0\nfrozen 0\n");
  write(directory / "cgroup.kill", "");
  write(directory / "cpu.stat", "usage_usec " + number(memory.cpu_microseconds));
  write(directory / "memory.current", number(memory.anon + memory.shmem));
  write(directory / "memory.stat",
        "anon " + number(memory.anon) + "file " + number(memory.shmem) + "shmem " + number(memory.shmem));
  write(directory / "memory.swap.current", number(memory.swap));
  write(directory / "memory.high", "max\n");
  write(directory / "memory.max", memory.max ? number(*memory.max) : "max\n");
  write(directory / "memory.low", number(memory.low));
  write(directory / "memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
  // Of mljob.slice the daemon would wait on it, which plain files do not allow.
  if (cgroup != "mljob.slice") write(directory / "memory.pressure", stalls(memory.waiting_microseconds));
}

std::string cgroup_of(std::uint32_t job) {
  return "mljob.slice/mljob-train.slice/mljob-train-" + std::to_string(job) + ".slice";
}

}  // namespace mljobd::test
