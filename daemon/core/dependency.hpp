// What a job may wait for: that another job started or ended in a certain way.
#pragma once

#include <optional>
#include <string_view>

#include "core/types.hpp"

namespace mljobd::core {

enum class DependencyKind {
  ok,     // it ended well
  any,    // it ended
  notok,  // it ended, and not well
  start,  // it started
};

struct Dependency {
  DependencyKind kind = DependencyKind::ok;
  JobId job = 0;

  bool operator==(const Dependency&) const = default;
};

// The words of the D-Bus contract and the command line.
[[nodiscard]] std::string_view to_word(DependencyKind kind);
// The inverse; empty when the word is not one of ours.
[[nodiscard]] std::optional<DependencyKind> dependency_kind_from(std::string_view word);

}  // namespace mljobd::core
