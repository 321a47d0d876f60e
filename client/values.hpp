// Reading the dictionaries that the daemon answers with. A missing key or an unexpected type gives the fallback: a
// newer daemon may leave out or add what it likes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/value.hpp"

namespace mljobd::client {

// Any integer type of the contract; empty when it does not fit into Integer.
template <class Integer>
std::optional<Integer> integer_from(const core::Value& value) {
  return std::visit(
      [](const auto& content) -> std::optional<Integer> {
        using Content = std::decay_t<decltype(content)>;
        if constexpr (std::is_integral_v<Content> && !std::is_same_v<Content, bool>) {
          if (std::in_range<Integer>(content)) return static_cast<Integer>(content);
        }
        return std::nullopt;
      },
      value.storage);
}

template <class T>
std::optional<T> find_value(const core::ValueMap& map, std::string_view key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return integer_from<T>(found->second);
  } else {
    const auto* content = std::get_if<T>(&found->second.storage);
    return content == nullptr ? std::nullopt : std::optional<T>(*content);
  }
}

template <class T>
T value_or(const core::ValueMap& map, std::string_view key, T fallback) {
  return find_value<T>(map, key).value_or(std::move(fallback));
}

inline std::string text_or_empty(const core::ValueMap& map, std::string_view key) {
  return value_or<std::string>(map, key, {});
}

inline core::ValueMap map_or_empty(const core::ValueMap& map, std::string_view key) {
  return value_or<core::ValueMap>(map, key, {});
}

inline std::vector<std::string> texts_or_empty(const core::ValueMap& map, std::string_view key) {
  return value_or<std::vector<std::string>>(map, key, {});
}

}  // namespace mljobd::client
