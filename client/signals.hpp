// Signals by the names that kill(1) takes.
#pragma once

#include <optional>
#include <string_view>

namespace mljobd::client {

// "USR1", "SIGUSR1", "usr1" or "10"; empty for anything else.
[[nodiscard]] std::optional<int> signal_from(std::string_view text);

}  // namespace mljobd::client
