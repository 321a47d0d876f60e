// A trigger of PSI (Documentation/accounting/psi.rst): wakes whoever polls it when tasks have waited for memory for a
// tenth of the time. A wake-up and no verdict: what to do is decided on the totals.
#pragma once

#include <string>
#include <utility>

#include "core/types.hpp"
#include "kernel/unique_fd.hpp"

namespace mljobd::kernel {

// One for mljob.slice, not one a job: Linux before 6.5 starts a real-time kernel thread for each cgroup that has one,
// and closing it waits for an RCU grace period.
class PressureTrigger {
 public:
  // `file` is …/memory.pressure of a cgroup or /proc/pressure/memory. Asks for 100 ms of waiting within 1 s. Without
  // CAP_SYS_RESOURCE Linux from 6.5 on takes only whole multiples of 2 s: then 200 ms within 2 s. Earlier ones refuse
  // /proc/pressure without it, but not a cgroup's file. The error (storage) says what is missing.
  [[nodiscard]] static core::Expected<PressureTrigger> arm(const std::string& file);

  // To be polled for EPOLLPRI alone, for it is always readable; polling takes the event. EPOLLERR: the cgroup is gone,
  // and that is reported without end.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit PressureTrigger(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace mljobd::kernel
