// The files of a cgroup as the daemon reads them, below the folder that it takes for the root of the hierarchy.
#pragma once

#include <cstdint>
#include <string>

namespace mljobd::test {

class FakeCgroup {
 public:
  // Empty memory, no limit, with a process in it.
  FakeCgroup(const std::string& root, const std::string& path);

  void set_limit(std::uint64_t bytes) const;
  // Of the programs in it. In place, for the daemon holds the files open.
  void set_memory(std::uint64_t bytes) const;
  [[nodiscard]] bool was_killed() const;

 private:
  std::string directory_;
};

// Of a job's slice, below the folder of a House.
[[nodiscard]] FakeCgroup job_cgroup(const std::string& house, const std::string& class_name, std::uint32_t id);

}  // namespace mljobd::test
