// sd-event and sd-bus are C, and sdbus-c++ stops only its own exceptions: whatever else escapes a callback would unwind
// through frames that cannot be unwound. Every callback that they call runs inside this.
#pragma once

#include <exception>
#include <functional>
#include <string_view>
#include <utility>

namespace mljobd::systemd {

// Told what an exception that escaped a callback says. Must not throw itself.
using FailureHandler = std::function<void(std::string_view what)>;

template <class Function>
void guarded(const FailureHandler& failed, Function&& function) noexcept {
  try {
    std::forward<Function>(function)();
  } catch (const std::exception& exception) {
    if (failed) failed(exception.what());
  } catch (...) {
    if (failed) failed("an exception of unknown type");
  }
}

}  // namespace mljobd::systemd
