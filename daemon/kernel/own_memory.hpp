// The daemon's own memory: kept when others run short, given back when it is no longer used.
#pragma once

#include "core/types.hpp"

namespace mljobd::kernel {

// What the process has touched, or touches later, stays in memory; what it only has mapped takes none (mlockall(2) with
// MCL_ONFAULT). Not done unless it is allowed without bound (RLIMIT_MEMLOCK, or CAP_IPC_LOCK), because beyond a bound
// allocations would fail. The error (storage) says what the unit lacks.
[[nodiscard]] core::Expected<void> lock_own_memory();

// Gives freed memory back to the machine, which the kernel refuses for what is locked: the lock is taken off for that
// moment. For the thread that has called lock_own_memory().
void give_memory_back();

}  // namespace mljobd::kernel
