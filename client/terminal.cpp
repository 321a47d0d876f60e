#include "client/terminal.hpp"

#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace mljobd::client {
namespace {

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

}  // namespace

std::optional<ColourChoice> colour_choice_from(std::string_view word) {
  if (word == "auto") return ColourChoice::automatic;
  if (word == "always") return ColourChoice::always;
  if (word == "never") return ColourChoice::never;
  return std::nullopt;
}

bool use_colour(ColourChoice choice, const TerminalFacts& facts) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  if (!facts.no_color.empty()) return false;
  if (!facts.clicolor_force.empty() && facts.clicolor_force != "0") return true;
  return facts.is_terminal && !facts.term.empty() && facts.term != "dumb";
}

bool use_colour(ColourChoice choice) {
  return use_colour(choice, {.is_terminal = ::isatty(STDOUT_FILENO) == 1,
                             .no_color = environment_text("NO_COLOR"),
                             .clicolor_force = environment_text("CLICOLOR_FORCE"),
                             .term = environment_text("TERM")});
}

std::optional<std::size_t> terminal_width() {
  if (::isatty(STDOUT_FILENO) != 1) return std::nullopt;
  struct winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string paint(std::string_view text, Colour colour, bool enabled) {
  if (!enabled || colour == Colour::none) return std::string(text);
  const char* code = "";
  switch (colour) {
    case Colour::bold:
      code = "1";
      break;
    case Colour::red:
      code = "31";
      break;
    case Colour::yellow:
      code = "33";
      break;
    case Colour::green:
      code = "32";
      break;
    case Colour::grey:
      code = "90";
      break;
    case Colour::none:
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace mljobd::client
