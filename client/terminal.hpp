// What the other end of stdout can show.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mljobd::client {

enum class ColourChoice { automatic, always, never };
[[nodiscard]] std::optional<ColourChoice> colour_choice_from(std::string_view word);

// What decides, apart from the flag. The strings are empty where the variable is not set.
struct TerminalFacts {
  bool is_terminal = false;
  std::string no_color{};        // NO_COLOR
  std::string clicolor_force{};  // CLICOLOR_FORCE
  std::string term{};            // TERM
};
// The flag, else NO_COLOR (no-color.org), else CLICOLOR_FORCE other than 0, else a terminal that is not dumb.
[[nodiscard]] bool use_colour(ColourChoice choice, const TerminalFacts& facts);
[[nodiscard]] bool use_colour(ColourChoice choice);  // of stdout

// Columns of the terminal at stdout; empty if it is none: then nothing is cut.
[[nodiscard]] std::optional<std::size_t> terminal_width();

enum class Colour { none, bold, red, yellow, green, grey };
// The text with the escape sequences around it; as it is when `enabled` is not set.
[[nodiscard]] std::string paint(std::string_view text, Colour colour, bool enabled);

}  // namespace mljobd::client
