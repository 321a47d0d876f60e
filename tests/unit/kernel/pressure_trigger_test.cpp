#include "kernel/pressure_trigger.hpp"

#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>

#include "kernel/machine.hpp"
#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

using namespace std::string_literals;

TEST_CASE("a trigger is written as the kernel reads it, with its NUL byte") {
  const TemporaryDirectory root;
  write_text(root / "memory.pressure", "");
  const auto trigger = value_of(PressureTrigger::arm(root / "memory.pressure"));
  CHECK(read_text(root / "memory.pressure") == "some 100000 1000000\0"s);
  // A daemon that hands it on to what it starts would keep the trigger alive.
  CHECK((::fcntl(trigger.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a kernel that tells no pressure is said to") {
  const TemporaryDirectory root;
  const auto trigger = PressureTrigger::arm(root / "memory.pressure");
  REQUIRE_FALSE(trigger);
  CHECK(trigger.error() ==
        core::Error{core::ErrorCode::storage, "cannot be woken by memory pressure through " + root.path() +
                                                  "/memory.pressure: this kernel does not tell it (boot with psi=1 to "
                                                  "change that); it is sampled instead"});
}

TEST_CASE("what else the kernel says is passed on") {
  CHECK_THAT(PressureTrigger::arm("/dev/full").error().message, Catch::Contains(": No space left on device; "));
}

TEST_CASE("this machine's own pressure gives a trigger, or says what it asks for") {
  const auto trigger = PressureTrigger::arm("/proc/pressure/memory");
  if (trigger) {
    CHECK(read_platform("/", "").psi);
    CHECK(trigger->fd() >= 0);
  } else if (read_platform("/", "").psi) {
    CHECK_THAT(trigger.error().message, Catch::Contains("CAP_SYS_RESOURCE"));
  } else {
    CHECK_THAT(trigger.error().message, Catch::Contains("psi=1"));
  }
}

}  // namespace
}  // namespace mljobd::kernel
