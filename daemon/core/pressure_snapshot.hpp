// One look at the machine and its jobs, as the pressure policy is shown it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/memory_sample.hpp"
#include "core/types.hpp"

namespace mljobd::core {

struct PressureJob {
  enum class Condition {
    starting,
    running,
    frozen_by_user,  // once parked it is as one parked by hand: only its user wakes it
    parking,         // frozen, its memory is being moved out
    parked,
    stopping,
  };

  JobId id = 0;
  std::string name{};
  std::string class_name{};
  std::int32_t rank = 0;      // of its class
  std::int32_t priority = 0;  // within the class
  BootTime started{};         // the present attempt
  Condition condition = Condition::running;
  CgroupMemory memory{};
  bool requeue = false;                            // may be started again after it was ended
  std::optional<Microseconds> checkpoint_grace{};  // it named a signal to save its work on, and how long that takes
  std::optional<BootTime> saves_until{};           // stopping: it was told to save its work, and has until then
  std::string unparkable{};                        // why it cannot be parked ("holds a GPU"); empty: it can
  bool parked_by_hand = false;                     // and so never woken by the policy
  bool growing = false;                            // as the growth detector sees it, over minutes
};

struct PressureSnapshot {
  Now now{};
  MachineMemory machine{};
  std::optional<CgroupMemory> jobs_slice{};  // mljob.slice, whose limit may be nearer than the machine's
  std::vector<PressureJob> jobs{};           // those that have units
};

// What is free again once it has ended. (What it has in swap comes back to swap, and no job waits for that.)
[[nodiscard]] constexpr Bytes resident_memory(const CgroupMemory& memory) {
  return memory.anon + memory.shmem + memory.unreclaimable_kernel;
}
// What parking moves to swap.
[[nodiscard]] constexpr Bytes movable_memory(const CgroupMemory& memory) { return memory.anon + memory.shmem; }

struct Headroom {
  Bytes capacity = 0;   // what jobs can have at all; shares are of this
  Bytes available = 0;  // what they can still get
};

// A full slice kills jobs though the host has memory. Its page cache is no obstacle: the kernel drops that first.
[[nodiscard]] inline Headroom headroom(const PressureSnapshot& snapshot) {
  Headroom room{.capacity = snapshot.machine.total, .available = snapshot.machine.available};
  if (!snapshot.jobs_slice || snapshot.jobs_slice->max == unlimited) return room;
  const Bytes limit = snapshot.jobs_slice->max;
  const Bytes needed = resident_memory(*snapshot.jobs_slice);
  room.capacity = std::min(room.capacity, limit);
  room.available = std::min(room.available, limit > needed ? limit - needed : 0);
  return room;
}

}  // namespace mljobd::core
