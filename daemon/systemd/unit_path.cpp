#include "systemd/unit_path.hpp"

#include <array>
#include <charconv>

namespace mljobd::systemd {
namespace {

constexpr std::string_view prefix = "/org/freedesktop/systemd1/unit/";
constexpr std::string_view job_prefix = "/org/freedesktop/systemd1/unit/mljob_2d";

// Not isalnum(): the locale has no say in object paths.
bool is_digit(char character) { return character >= '0' && character <= '9'; }

bool stays(char character) {
  return is_digit(character) || (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

}  // namespace

std::string unit_path(std::string_view unit) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string path(prefix);
  if (unit.empty()) return path + "_";
  for (const char character : unit) {
    const bool first = path.size() == prefix.size();
    if (stays(character) && !(first && is_digit(character))) {
      path += character;
      continue;
    }
    const auto byte = static_cast<unsigned char>(character);
    path += {'_', digits[byte >> 4U], digits[byte & 15U]};
  }
  return path;
}

std::string unit_of_path(std::string_view path) {
  if (!path.starts_with(prefix)) return {};
  path.remove_prefix(prefix.size());
  std::string unit;
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (path[at] != '_') {
      unit += path[at];
      continue;
    }
    const auto code = path.substr(at + 1, 2);
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), byte, 16);
    if (code.size() != 2 || error != std::errc{} || end != code.data() + code.size()) return {};
    unit += static_cast<char>(byte);
    at += code.size();
  }
  return unit;
}

bool is_job_unit_path(std::string_view path) { return path.starts_with(job_prefix); }

}  // namespace mljobd::systemd
