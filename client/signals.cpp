#include "client/signals.hpp"

#include <charconv>
#include <csignal>
#include <cstring>
#include <string>

namespace mljobd::client {

std::optional<int> signal_from(std::string_view text) {
  constexpr int largest = 64;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) {
    return number >= 1 && number <= largest ? std::optional(number) : std::nullopt;
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

}  // namespace mljobd::client
