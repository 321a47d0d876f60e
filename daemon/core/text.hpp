// Small questions about text that came from outside.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace mljobd::core {

// Well-formed as Unicode defines it: shortest forms only, no surrogates, nothing above U+10FFFF. NUL is allowed.
[[nodiscard]] bool is_valid_utf8(std::string_view text);

// C0, DEL and C1: what a terminal could take for a command. The text is valid UTF-8.
[[nodiscard]] bool has_control_characters(std::string_view text);

// At most so many bytes of the text, and an ellipsis where there were more, with anything that could disturb a terminal
// or the bus replaced by '?'.
[[nodiscard]] std::string printable(std::string_view text, std::size_t maximum_bytes);

// For a message: in single quotes, 64 bytes of what printable leaves.
[[nodiscard]] std::string quoted(std::string_view text);

// What stands between the separators: one part more than there are of them, so "" is one part, which is empty.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Decimal digits, after a '-' where Integer is signed. Empty where the text is anything else, or more than fits.
template <std::integral Integer>
[[nodiscard]] std::optional<Integer> to_number(std::string_view text) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The word that was probably meant, for a "did you mean"; empty when none is close.
[[nodiscard]] std::string_view nearest_word(std::string_view text, std::span<const std::string_view> words);

}  // namespace mljobd::core
