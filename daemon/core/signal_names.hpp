// Signals as people know them; strsignal(3) translates and sigabbrev_np(3) is not portable.
#pragma once

#include <cstdint>
#include <string>

namespace mljobd::core {

// "SIGKILL"; "signal 40" for one without a name.
[[nodiscard]] std::string signal_name(std::uint32_t signal);

}  // namespace mljobd::core
