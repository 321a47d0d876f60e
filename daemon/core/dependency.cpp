#include "core/dependency.hpp"

namespace mljobd::core {

std::string_view to_word(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::ok:
      return "ok";
    case DependencyKind::any:
      return "any";
    case DependencyKind::notok:
      return "notok";
    case DependencyKind::start:
      return "start";
  }
  return "";
}

std::optional<DependencyKind> dependency_kind_from(std::string_view word) {
  for (const auto kind : {DependencyKind::ok, DependencyKind::any, DependencyKind::notok, DependencyKind::start}) {
    if (word == to_word(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace mljobd::core
