#include "kernel/own_memory.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include <linux/capability.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mljobd::kernel {
namespace {

constexpr int everything_touched = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;

// The kernel's lock is the process's, hence this is, too.
bool locked = false;

bool has_lock_capability() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  return (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

bool is_unbounded() {
  struct rlimit limit{};
  return (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) || has_lock_capability();
}

tl::unexpected<core::Error> not_locked(const std::string& why) {
  return core::failure(core::ErrorCode::storage,
                       "mljobd's own memory is not locked, so it may answer late when the machine runs short: " + why);
}

}  // namespace

core::Expected<void> lock_own_memory() {
  if (!is_unbounded()) return not_locked("its unit needs LimitMEMLOCK=infinity (`systemctl edit mljobd.service`)");
  if (::mlockall(everything_touched) != 0) return not_locked(std::generic_category().message(errno));
  locked = true;
  return {};
}

void give_memory_back() {
  if (locked) ::munlockall();
  ::malloc_trim(0);
  if (locked) ::mlockall(everything_touched);
}

}  // namespace mljobd::kernel
