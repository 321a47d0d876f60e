#include "kernel/pressure_trigger.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "kernel/files.hpp"

namespace mljobd::kernel {
namespace {

// With the NUL byte: the kernel takes the last one written for it.
constexpr std::string_view within_one_second("some 100000 1000000\0", 20);
constexpr std::string_view within_two_seconds("some 200000 2000000\0", 20);

// 0 or errno.
int write_trigger(int fd, std::string_view trigger) {
  return ::write(fd, trigger.data(), trigger.size()) < 0 ? errno : 0;
}

tl::unexpected<core::Error> refused(const std::string& file, int number) {
  std::string why = std::generic_category().message(number);
  if (number == ENOENT || number == EOPNOTSUPP) {
    why = "this kernel does not tell it (boot with psi=1 to change that)";
  } else if (number == EPERM || number == EACCES) {
    why = "this kernel asks for CAP_SYS_RESOURCE";
  }
  return core::failure(core::ErrorCode::storage,
                       "cannot be woken by memory pressure through " + file + ": " + why + "; it is sampled instead");
}

}  // namespace

core::Expected<PressureTrigger> PressureTrigger::arm(const std::string& file) {
  auto fd = open_at(AT_FDCWD, file.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY);
  if (!fd) return refused(file, fd.error().number);
  int error = write_trigger(fd->get(), within_one_second);
  if (error == EINVAL) error = write_trigger(fd->get(), within_two_seconds);
  if (error != 0) return refused(file, error);
  return PressureTrigger(std::move(*fd));
}

}  // namespace mljobd::kernel
