// The memory of the machine, sampled as often as that of the jobs.
#pragma once

#include <string>

#include "core/memory_sample.hpp"
#include "core/types.hpp"
#include "kernel/held_file.hpp"

namespace mljobd::kernel {

// Holds /proc/meminfo, /proc/vmstat and /proc/pressure/memory open: three descriptors.
class MachineSampler {
 public:
  // The files are below `root`. `storage` when meminfo is not to be read.
  [[nodiscard]] static core::Expected<MachineSampler> open(const std::string& root = "/");

  // Reads into a buffer on the stack; nothing that allocates unless it fails (storage). Without vmstat its counters are
  // 0; without PSI (psi=0) memory_stalls is empty.
  [[nodiscard]] core::Expected<core::MachineMemory> sample() const;

 private:
  explicit MachineSampler(int root);

  HeldFile meminfo_;
  HeldFile vmstat_;
  HeldFile pressure_;
};

}  // namespace mljobd::kernel
