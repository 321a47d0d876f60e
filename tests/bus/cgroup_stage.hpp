// The files of cgroups as the daemon reads them, for jobs whose memory a case sets as it likes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mljobd::test {

struct StagedMemory {
  std::uint64_t anon = 0;
  std::uint64_t shmem = 0;
  std::uint64_t swap = 0;
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t waiting_microseconds = 0;  // for memory: some and full
  std::optional<std::uint64_t> max{};      // given from the start, or never
  std::uint64_t low = 0;
  bool populated = true;
};

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// `root` is what MLJOBD_CGROUP_ROOT names; `cgroup` the path below it.
void stage_memory(const std::string& root, const std::string& cgroup, const StagedMemory& memory);

// The cgroup of a job of the class that the House submits to.
[[nodiscard]] std::string cgroup_of(std::uint32_t job);

}  // namespace mljobd::test
