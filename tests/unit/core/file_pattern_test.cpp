#include "core/file_pattern.hpp"

#include <catch2/catch.hpp>

using namespace mljobd::core;

namespace {

const PatternFacts element{.id = 47, .array_id = 42, .index = 13, .name = "night", .user = "alice", .host = "box.lan"};
const PatternFacts single{.id = 47, .name = "a/../b", .user = "alice", .host = "box"};

}  // namespace

TEST_CASE("a file name says which job it is of") {
  const auto [pattern, expected] = GENERATE(table<const char*, const char*>({
      {"/out/%x-%j.log", "/out/night-47.log"},
      {"%A_%a", "42_13"},
      {"%A_%4a.out", "42_0013.out"},
      {"%08j", "00000047"},
      {"%1j", "47"},
      {"%99j", "0000000047"},
      {"%u@%N", "alice@box"},
      {"%5N", "box"},
      {"%b%n%s%t%J", "300047"},
      {"100%%j", "100%j"},
      {"%q %", "%q %"},
      {"%4", "%4"},
      {"%4q", "%4q"},
      {"a\\%j", "a%j"},
      {"", ""},
  }));
  INFO(pattern);
  CHECK(expand_file_pattern(pattern, element) == std::string(expected));
}

TEST_CASE("outside an array its letters still make a file name") {
  CHECK(expand_file_pattern("%A_%a", single) == "47_0");
}

TEST_CASE("a job's name does not choose the folder") { CHECK(expand_file_pattern("/out/%x", single) == "/out/a_.._b"); }

TEST_CASE("a file name that outgrows a path is refused") {
  std::string pattern(2047, 'x');
  CHECK(expand_file_pattern(pattern + pattern + "%%", single)->size() == 4095);
  const auto expanded = expand_file_pattern(pattern + pattern + "%%%%", single);
  REQUIRE_FALSE(expanded);
  CHECK_THAT(expanded.error().message, Catch::Contains("shorten it"));
}
