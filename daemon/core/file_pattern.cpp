#include "core/file_pattern.hpp"

#include <algorithm>
#include <cstddef>

#include "core/text.hpp"

namespace mljobd::core {
namespace {

constexpr std::size_t maximum_path = 4096;  // PATH_MAX, the NUL included
constexpr std::size_t maximum_width = 10;   // as in Slurm

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string padded(std::uint32_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

std::string as_file_name(std::string_view text) {
  std::string name(text);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

// Empty for a letter that stands for nothing.
std::optional<std::string> replacement(char letter, std::size_t width, const PatternFacts& facts) {
  switch (letter) {
    case '%':
      return "%";
    case 'j':
    case 'J':
      return padded(facts.id, width);
    case 'A':
      return padded(facts.array_id != 0 ? facts.array_id : facts.id, width);
    case 'a':
      return padded(facts.index.value_or(0), width);
    case 'b':
      return padded(facts.index.value_or(0) % 10, width);
    case 'n':
    case 's':
    case 't':
      return padded(0, width);
    case 'x':
      return as_file_name(facts.name);
    case 'u':
      return as_file_name(facts.user);
    case 'N':
      return as_file_name(facts.host.substr(0, facts.host.find('.')));
    default:
      return std::nullopt;
  }
}

// The text behind a '%' at the beginning of `rest`, which is consumed as far as it was understood.
std::string take_field(std::string_view& rest, const PatternFacts& facts) {
  std::size_t at = 1;
  std::size_t width = 0;
  while (at < rest.size() && is_digit(rest[at])) {
    width = std::min(width * 10 + static_cast<std::size_t>(rest[at] - '0'), maximum_width);
    ++at;
  }
  const auto text = at < rest.size() ? replacement(rest[at], width, facts) : std::nullopt;
  if (!text) {
    rest.remove_prefix(1);
    return "%";
  }
  rest.remove_prefix(at + 1);
  return *text;
}

}  // namespace

Expected<std::string> expand_file_pattern(std::string_view pattern, const PatternFacts& facts) {
  std::string path;
  const bool literal = pattern.find('\\') != std::string_view::npos;
  auto rest = pattern;
  while (!rest.empty()) {
    if (rest.front() == '%' && !literal) {
      path += take_field(rest, facts);
    } else {
      if (rest.front() != '\\') path += rest.front();
      rest.remove_prefix(1);
    }
    if (path.size() >= maximum_path) {
      return failure(ErrorCode::invalid_spec, "the file name " + quoted(pattern) +
                                                  " becomes longer than a path may be (4095 bytes): shorten it");
    }
  }
  return path;
}

}  // namespace mljobd::core
