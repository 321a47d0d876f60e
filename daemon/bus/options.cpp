#include "bus/options.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <type_traits>
#include <variant>

#include "bus/calls.hpp"

namespace mljobd::bus {
namespace {

[[noreturn]] void refuse(std::string_view key, std::string_view expected) {
  throw to_bus_error({core::ErrorCode::invalid_spec, "\"" + std::string(key) + "\" takes " + std::string(expected)});
}

}  // namespace

Options::Options(const VariantMap& options, std::initializer_list<std::string_view> known)
    : values_(value_or_throw(from_variants(options))) {
  for (const auto& [key, value] : values_) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string allowed;
    for (const auto name : known) allowed.append(allowed.empty() ? "" : ", ").append(name);
    throw to_bus_error({core::ErrorCode::invalid_spec, "\"" + key.substr(0, 64) + "\" is not a key here; known are: " +
                                                           (allowed.empty() ? "none" : allowed)});
  }
}

const core::Value* Options::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

bool Options::flag(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr) return false;
  const auto* flag = std::get_if<bool>(&value->storage);
  if (flag == nullptr) refuse(key, "a boolean (b)");
  return *flag;
}

std::string Options::text(std::string_view key, std::string_view fallback) const {
  const auto* value = find(key);
  if (value == nullptr) return std::string(fallback);
  const auto* text = std::get_if<std::string>(&value->storage);
  if (text == nullptr) refuse(key, "a string (s)");
  return *text;
}

std::optional<std::uint64_t> Options::large_number(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr) return std::nullopt;
  return std::visit(
      [&](const auto& content) -> std::uint64_t {
        using Content = std::decay_t<decltype(content)>;
        if constexpr (std::integral<Content> && !std::same_as<Content, bool>) {
          if (std::in_range<std::uint64_t>(content)) return static_cast<std::uint64_t>(content);
        }
        refuse(key, "a number that is not negative (t)");
      },
      value->storage);
}

std::uint32_t Options::number(std::string_view key, std::uint32_t fallback) const {
  const auto number = large_number(key);
  if (!number) return fallback;
  if (*number > std::numeric_limits<std::uint32_t>::max()) refuse(key, "a number below 2^32 (u)");
  return static_cast<std::uint32_t>(*number);
}

std::vector<std::string> Options::texts(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr) return {};
  const auto* texts = std::get_if<std::vector<std::string>>(&value->storage);
  if (texts == nullptr) refuse(key, "strings (as)");
  return *texts;
}

std::vector<std::uint32_t> Options::numbers(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr) return {};
  const auto* numbers = std::get_if<std::vector<std::uint32_t>>(&value->storage);
  if (numbers == nullptr) refuse(key, "numbers (au)");
  return *numbers;
}

void refuse_options(const VariantMap& options) { const Options none(options, {}); }

}  // namespace mljobd::bus
