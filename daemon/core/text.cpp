#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mljobd::core {
namespace {

constexpr std::size_t quoted_bytes = 64;
constexpr std::size_t longest_word = 64;  // nobody mistypes more than that, and the distance is quadratic

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// The bytes of the well-formed sequence that text starts with; 0 if there is none. Table 3-7 of the Unicode standard.
std::size_t sequence_length(std::string_view text) {
  struct Row {
    unsigned char first, last, second_low, second_high;
    std::size_t length;
  };
  constexpr std::array rows{
      Row{0xC2, 0xDF, 0x80, 0xBF, 2}, Row{0xE0, 0xE0, 0xA0, 0xBF, 3}, Row{0xE1, 0xEC, 0x80, 0xBF, 3},
      Row{0xED, 0xED, 0x80, 0x9F, 3}, Row{0xEE, 0xEF, 0x80, 0xBF, 3}, Row{0xF0, 0xF0, 0x90, 0xBF, 4},
      Row{0xF1, 0xF3, 0x80, 0xBF, 4}, Row{0xF4, 0xF4, 0x80, 0x8F, 4},
  };
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  for (const auto& row : rows) {
    if (first < row.first || first > row.last) continue;
    if (text.size() < row.length) return 0;
    const auto second = static_cast<unsigned char>(text[1]);
    if (second < row.second_low || second > row.second_high) return 0;
    const auto tail = text.substr(2, row.length - 2);
    return std::all_of(tail.begin(), tail.end(), is_continuation) ? row.length : 0;
  }
  return 0;
}

bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence.front());
  if (first < 0x20 || first == 0x7F) return true;
  return first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;  // U+0080..U+009F
}

// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t substituted = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool has_control_characters(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(text.substr(0, length))) return true;
    text.remove_prefix(length);
  }
  return false;
}

std::string printable(std::string_view text, std::size_t maximum_bytes) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::size_t step = std::max<std::size_t>(length, 1);
    if (result.size() + step > maximum_bytes) return result + "…";
    const auto sequence = text.substr(0, step);
    result += length == 0 || is_control(sequence) ? std::string_view("?") : sequence;
    text.remove_prefix(step);
  }
  return result;
}

std::string quoted(std::string_view text) { return "'" + printable(text, quoted_bytes) + "'"; }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view nearest_word(std::string_view text, std::span<const std::string_view> words) {
  if (text.size() > longest_word) return {};
  std::string_view best;
  // A third of the letters may differ: "memroy" is memory, "cores" is not comment.
  std::size_t best_distance = std::max<std::size_t>(1, text.size() / 3) + 1;
  for (const auto word : words) {
    const std::size_t distance = edit_distance(text, word);
    if (distance >= best_distance) continue;
    best = word;
    best_distance = distance;
  }
  return best;
}

}  // namespace mljobd::core
