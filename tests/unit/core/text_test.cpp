#include "core/text.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace mljobd::core;
using namespace std::string_literals;

TEST_CASE("well-formed UTF-8 is told from the rest") {
  CHECK(is_valid_utf8(""));
  CHECK(is_valid_utf8("train/übung 模型 🚀"));
  CHECK(is_valid_utf8("\0x"s));
  CHECK(is_valid_utf8("\xF4\x8F\xBF\xBF"));  // U+10FFFF

  const std::string text = GENERATE("\x80"s, "\xC0\xAF"s,  // shortest form of '/' is one byte
                                    "\xC1\xBF"s, "\xE0\x9F\xBF"s, "\xF0\x8F\xBF\xBF"s, "\xED\xA0\x80"s,  // a surrogate
                                    "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xC3"s, "\xE2\x82"s, "\xE2\x28\xA1"s,
                                    "abc\xFF"s, "\xF0\x9F\x9A"s);
  CHECK_FALSE(is_valid_utf8(text));
}

TEST_CASE("control characters are found wherever they hide") {
  CHECK_FALSE(has_control_characters("plain text, ü, \xC2\xA0 and 模型"));
  CHECK(has_control_characters("a\nb"));
  CHECK(has_control_characters("a\x1b[31m"));
  CHECK(has_control_characters("\x7F"));
  CHECK(has_control_characters("\xC2\x9B"));  // CSI in one character
  CHECK(has_control_characters("a\0"s));
}

TEST_CASE("what a message quotes is short and harmless") {
  CHECK(quoted("12X") == "'12X'");
  CHECK(quoted("a\x1b[2J\xFF") == "'a?[2J?'");
  CHECK(quoted(std::string(64, 'a')) == "'" + std::string(64, 'a') + "'");
  CHECK(quoted(std::string(100000, 'a')) == "'" + std::string(64, 'a') + "…'");
  // Never half a character.
  CHECK(quoted(std::string(63, 'a') + "üb") == "'" + std::string(63, 'a') + "…'");
}

TEST_CASE("a slip of the finger finds its word") {
  constexpr std::array<std::string_view, 4> words{"memory", "memory_max", "comment", "hold"};
  CHECK(nearest_word("memroy", words) == "memory");
  CHECK(nearest_word("memorymax", words) == "memory_max");
  CHECK(nearest_word("hlod", words).empty());  // two of four letters
  CHECK(nearest_word("hol", words) == "hold");
  CHECK(nearest_word("cores", words).empty());
  CHECK(nearest_word("", words).empty());
  CHECK(nearest_word(std::string(100000, 'm'), words).empty());
}

TEST_CASE("text falls apart at its separators") {
  using Parts = std::vector<std::string_view>;
  CHECK(split("1:02:3", ':') == Parts{"1", "02", "3"});
  CHECK(split("plain", ':') == Parts{"plain"});
  CHECK(split("", ',') == Parts{""});
  CHECK(split(",a,", ',') == Parts{"", "a", ""});
}

TEST_CASE("a number is digits to the end, and fits") {
  CHECK(to_number<std::uint32_t>("4294967295") == 4294967295U);
  CHECK(to_number<std::uint32_t>("007") == 7U);
  CHECK(to_number<std::int32_t>("-3") == -3);
  const auto* const text = GENERATE("", "-3", "+3", " 3", "3 ", "3x", "0x3", "4294967296");
  CHECK_FALSE(to_number<std::uint32_t>(text));
}
