// Text that is not what it should be: every refusal has the line that a person has to look at.
#include "config/document.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "config/config.hpp"

namespace mljobd::config {
namespace {

std::size_t line_of_problem(const std::string& text) {
  const auto document = parse_document(text);
  return document ? 0 : document.error().line;
}

std::string reason(const std::string& text) {
  const auto document = parse_document(text);
  return document ? "accepted" : document.error().reason;
}

const Node& member(const Node& node, const std::string& key) {
  for (const auto& entry : std::get<Object>(node.content)) {
    if (entry.key == key) return entry.value;
  }
  FAIL("no " << key);
  return node;
}

TEST_CASE("every value knows its line") {
  const auto document = parse_document(
      "// comment\n"
      "{\n"
      "  \"number\": 5\n"
      "  ,\"negative\": -5\n"
      "  ,\"fraction\":\n"
      "    1.5\n"
      "  ,\"text\": \"a\", /* two\n"
      "  lines */ \"truth\": true,\n"
      "  \"nothing\": null,\n"
      "  \"list\": [\n"
      "    1\n"
      "    ,2,\n"
      "    {\"inner\": []}\n"
      "  ]\n"
      "}\n");
  REQUIRE(document);
  CHECK(document->line == 2);
  CHECK(member(*document, "number").line == 3);
  CHECK(std::get<std::uint64_t>(member(*document, "number").content) == 5);
  CHECK(member(*document, "negative").line == 4);
  CHECK(std::get<std::int64_t>(member(*document, "negative").content) == -5);
  CHECK(member(*document, "fraction").line == 6);
  CHECK(member(*document, "text").line == 7);
  CHECK(member(*document, "truth").line == 8);
  CHECK(member(*document, "nothing").line == 9);
  const auto& list = member(*document, "list");
  CHECK(list.line == 10);
  const auto& elements = std::get<Array>(list.content);
  REQUIRE(elements.size() == 3);
  CHECK(elements[0].line == 11);
  CHECK(elements[1].line == 12);
  CHECK(elements[2].line == 13);
  CHECK(member(elements[2], "inner").line == 13);
}

TEST_CASE("syntax errors are placed at their line") {
  CHECK(line_of_problem("") == 1);
  CHECK(line_of_problem("\n\n") == 3);
  CHECK(line_of_problem("{\n  \"a\": 1\n  \"b\": 2\n}") == 3);
  CHECK(line_of_problem("{\n\"a\": \"no end\n}") == 2);
  CHECK(line_of_problem("{\n\"a\": 1,\n}") == 3);
  CHECK(line_of_problem("{\n\"a\": tru,\n\"b\": 1}") == 2);
  CHECK(line_of_problem("{}\n{}") == 2);
  CHECK(line_of_problem("{\n/* no end\n\n") == 4);
  CHECK(line_of_problem("{\n\"a\": 1e999\n}") == 2);
}

TEST_CASE("reasons quote nothing that could be long or not UTF-8") {
  CHECK(reason("{\"a\": \"\xFF\"}") == "syntax error while parsing value - invalid string: ill-formed UTF-8 byte");
  CHECK(reason("{\"" + std::string(100'000, 'x') + "\n").size() < 200);
  CHECK(reason("{\"a\": 1 \"b\": 2}") == "syntax error while parsing object - unexpected string literal; expected '}'");
}

TEST_CASE("duplicate keys are refused") {
  CHECK(reason("{\"a\": 1,\n\"a\": 2}") == "'a' is given twice, first in line 1");
  CHECK(line_of_problem("{\"a\": 1,\n\"a\": 2}") == 2);
  CHECK(parse_document("{\"a\": {\"b\": 1}, \"b\": {\"a\": 1}}").has_value());
}

TEST_CASE("hostile nesting and hostile breadth are refused") {
  const auto nested = [](std::size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += "1";
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  CHECK(parse_document(nested(max_depth, "[", "]")).has_value());
  CHECK(reason(nested(max_depth + 1, "[", "]")) == "nested more than 16 levels deep");
  CHECK(reason(nested(max_depth + 1, "{\"a\":", "}")) == "nested more than 16 levels deep");
  CHECK(reason(std::string(max_file_size, '[')) == "nested more than 16 levels deep");

  std::string broad = "{";
  for (int i = 0; i < 300; ++i) broad += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\": 0";
  CHECK(reason(broad + "}") == "more than 256 keys in one object");
}

TEST_CASE("a text that is too large is refused before it is read") {
  const std::string padding(max_file_size, ' ');
  const auto at_bound = parse_settings("{}" + padding.substr(2), "x", core::default_settings());
  CHECK(at_bound.has_value());
  const auto above = parse_settings("{}" + padding, "x", core::default_settings());
  REQUIRE_FALSE(above);
  CHECK(above.error().message == "x:1: larger than 1048576 bytes");
}

TEST_CASE("any prefix and any changed byte of a configuration is read or refused, never worse") {
  const std::string text = R"({"classes": [{"name": "a", "cpu_weight": 5, "remove": false}], // c
    "history": {"age": "1d", "jobs": 1}, "log_limit": "1G", "host_memory_reserve": null})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto settings = parse_settings(text.substr(0, length), "f", core::default_settings());
    CHECK_FALSE(settings.has_value());
  }
  for (std::size_t position = 0; position < text.size(); ++position) {
    for (const char byte : {'\0', '\n', '"', '{', ']', '9', '\xFF'}) {
      std::string changed = text;
      changed[position] = byte;
      const auto settings = parse_settings(changed, "f", core::default_settings());
      if (!settings) CHECK(settings.error().message.starts_with("f:"));
    }
  }
}

}  // namespace
}  // namespace mljobd::config
