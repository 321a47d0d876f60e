// Signals by the names that kill(1) takes, and the warning that a job gets before its time is over.
#pragma once

#include <optional>
#include <string_view>

#include "core/types.hpp"

namespace mljobd::client {

// "USR1", "SIGUSR1", "usr1" or "10"; empty for anything else.
[[nodiscard]] std::optional<int> signal_from(std::string_view text);

// Whom Slurm tells: the batch shell ("B:"), which is the job's main process, or what runs under it but not the shell.
enum class WarningReceiver { main_process, steps };

struct WarningSignal {
  int signal = 0;
  core::Microseconds before{0};  // the time limit
  WarningReceiver receiver = WarningReceiver::steps;

  bool operator==(const WarningSignal&) const = default;
};

// "[B:]SIGNAL[@TIME]" as sbatch has it: TIME is seconds, 60 if left out, at most 65535; "@5m" is understood too.
// Errors: invalid_spec.
[[nodiscard]] core::Expected<WarningSignal> parse_warning_signal(std::string_view text);

}  // namespace mljobd::client
