#include "core/array_indices.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace mljobd::core;

TEST_CASE("array indices are read as sbatch reads them") {
  struct Row {
    const char* text;
    ArrayIndices expected;
  };
  const auto row = GENERATE(values<Row>({
      {"0-3", {{0, 1, 2, 3}, 0}},
      {"7", {{7}, 0}},
      {"0-15:5%4", {{0, 5, 10, 15}, 4}},
      {"0-4:3", {{0, 3}, 0}},
      {"1,3,5-7", {{1, 3, 5, 6, 7}, 0}},
      {"9,2,2,1-3%1", {{1, 2, 3, 9}, 1}},
      {"5-5", {{5}, 0}},
      {"4000000", {{4000000}, 0}},
  }));
  INFO(row.text);
  CHECK(parse_array_indices(row.text) == row.expected);
}

TEST_CASE("what is no list of array indices is refused with the reason") {
  const std::string usage = "write it as in 0-15, 1,3,5, 0-30:2 or 0-15%4";
  const auto [text, reason] = GENERATE_COPY(table<std::string, std::string>({
      {"", usage},
      {",", usage},
      {"1,", usage},
      {"a-b", usage},
      {"-3", usage},
      {"1-", usage},
      {"1-2-3", usage},
      {"5:2", usage},
      {"1-9:0", usage},
      {"1-9:", usage},
      {"1-9%", usage},
      {"1-9%0", usage},
      {"1-9%2%2", usage},
      {"99999999999", usage},
      {"1 - 3", usage},
      {"3-1", "a range runs from the smaller number to the larger"},
      {"4000001", "the largest index is 4000000"},
      {"0-4000000", "it has more than 10000 elements"},
      {"0-9999,20000", "it has more than 10000 elements"},
  }));
  INFO(text);
  const auto parsed = parse_array_indices(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::invalid_spec);
  CHECK_THAT(parsed.error().message, Catch::EndsWith(reason));
}
