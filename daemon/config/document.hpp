// JSON as a tree that still knows its lines, so that what a value means can be complained about where it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace mljobd::config {

struct Problem {
  std::size_t line = 1;
  std::string reason{};
};

template <class T>
using Checked = tl::expected<T, Problem>;

[[nodiscard]] inline tl::unexpected<Problem> problem(std::size_t line, std::string reason) {
  return tl::unexpected<Problem>(Problem{line, std::move(reason)});
}

struct Node;
struct Member;
using Array = std::vector<Node>;
using Object = std::vector<Member>;  // in the order of the text, keys unique

struct Node {
  std::size_t line = 1;
  // No initializer: one here would need Member complete. It begins as null.
  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> content;
};

struct Member {
  std::string key{};
  std::size_t line = 1;
  Node value{};
};

// JSON with // and /* */ comments. Refused: duplicate keys, nesting deeper than max_depth.
[[nodiscard]] Checked<Node> parse_document(std::string_view text);

// "a text", "a list" …, for "X was expected, this is Y".
[[nodiscard]] std::string_view kind_of(const Node& node);

}  // namespace mljobd::config
