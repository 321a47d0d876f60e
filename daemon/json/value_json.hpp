// The dictionaries of core as JSON, for the record and for jobctl. Needs nlohmann::json, or its ordered form, from
// whoever includes it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::json {

// How core::unlimited is written: exactly, for a record, or as null, because no JSON reader counts up to 2^64.
enum class Unlimited { number, null };

// Texts go in as they are: what is not UTF-8 is dump()'s to replace (error_handler_t::replace), or it throws.
template <class Json>
[[nodiscard]] Json to_json(const core::ValueMap& map, Unlimited unlimited) {
  const auto convert = [unlimited](const auto& content) -> Json {
    using Content = std::decay_t<decltype(content)>;
    if constexpr (std::is_same_v<Content, core::ValueMap>) {
      return to_json<Json>(content, unlimited);
    } else if constexpr (std::is_same_v<Content, std::uint64_t>) {
      return content == core::unlimited && unlimited == Unlimited::null ? Json(nullptr) : Json(content);
    } else {
      return Json(content);
    }
  };
  Json object = Json::object();
  for (const auto& [key, value] : map) object[key] = std::visit(convert, value.storage);
  return object;
}

}  // namespace mljobd::json
