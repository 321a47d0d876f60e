// Jobs that are submitted together and wait for each other by name: the stages of a pipeline.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.hpp"

namespace mljobd::core {

struct NamedDependencies {
  std::string_view name{};                // empty: nobody waits for it
  std::vector<std::string_view> after{};  // names outside the set are nobody's concern here
};

// The names in the `after` of a specification, which keeps them; none where that is malformed.
[[nodiscard]] std::vector<std::string_view> names_after(const ValueMap& spec);

struct GraphMistake {
  std::size_t job = 0;                 // where it is, as an index into the set
  std::optional<std::size_t> other{};  // the one that has its name
  std::string message{};
};

// Names that are given twice, and a circle in which jobs would wait for each other for ever: it is written in the order
// they would have to run ("train -> validate -> train") and is where its first one in the set is. Linear in the size of
// the graph, and without recursion: the graph comes from outside.
[[nodiscard]] std::vector<GraphMistake> check_graph(std::span<const NamedDependencies> jobs);

// Each behind all that it waits for, as indices into the set. The graph is sound.
[[nodiscard]] std::vector<std::size_t> running_order(std::span<const NamedDependencies> jobs);

}  // namespace mljobd::core
