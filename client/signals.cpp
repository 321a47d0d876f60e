#include "client/signals.hpp"

#include <csignal>
#include <cstring>
#include <string>

#include "core/format.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

constexpr std::chrono::seconds usual_warning(60);
constexpr std::chrono::seconds earliest_warning(65535);

std::optional<core::Microseconds> parse_lead(std::string_view text) {
  if (const auto seconds = core::to_number<std::uint32_t>(text)) return std::chrono::seconds(*seconds);
  const auto duration = core::parse_duration(text);
  return duration ? std::optional(*duration) : std::nullopt;
}

}  // namespace

std::optional<int> signal_from(std::string_view text) {
  constexpr int largest = 64;
  if (const auto number = core::to_number<int>(text)) {
    return *number >= 1 && *number <= largest ? number : std::nullopt;
  }
  std::string name;
  for (const char c : text) name.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (int signal = 1; signal < largest; ++signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    if (abbreviation != nullptr && name == abbreviation) return signal;
  }
  return std::nullopt;
}

core::Expected<WarningSignal> parse_warning_signal(std::string_view text) {
  WarningSignal warning{.before = usual_warning};
  auto rest = text;
  if (rest.starts_with("B:") || rest.starts_with("b:")) {
    warning.receiver = WarningReceiver::main_process;
    rest.remove_prefix(2);
  }
  const auto at = rest.find('@');
  const auto signal = signal_from(rest.substr(0, at));
  const auto before = at == std::string_view::npos ? warning.before : parse_lead(rest.substr(at + 1));
  if (!signal || !before || *before > earliest_warning) {
    return core::failure(core::ErrorCode::invalid_spec,
                         core::quoted(text) +
                             " is not a signal and a time before the limit: write it as in USR1@60, "
                             "TERM@5m or B:10@120 (at most 65535 seconds)");
  }
  warning.signal = *signal;
  warning.before = *before;
  return warning;
}

}  // namespace mljobd::client
