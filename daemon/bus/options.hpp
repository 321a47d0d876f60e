// The options dictionary that every method takes: known keys only, so that a wish is never silently ignored.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bus/values.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::bus {

class Options {
 public:
  // Throws sdbus::Error InvalidSpec for a key that is not among `known`, or of an unknown type.
  Options(const VariantMap& options, std::initializer_list<std::string_view> known);

  // Each throws InvalidSpec when the value is of another type or out of range.
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] std::uint32_t number(std::string_view key, std::uint32_t fallback) const;
  [[nodiscard]] std::optional<std::uint64_t> large_number(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  [[nodiscard]] std::vector<std::uint32_t> numbers(std::string_view key) const;

 private:
  [[nodiscard]] const core::Value* find(std::string_view key) const;

  core::ValueMap values_;
};

// For a method that has no options yet.
void refuse_options(const VariantMap& options);

}  // namespace mljobd::bus
