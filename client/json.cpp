#include "client/json.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace mljobd::client {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const core::ValueMap& map);

Json to_json(const core::Value& value) {
  return std::visit(
      [](const auto& content) -> Json {
        using Content = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<Content, core::ValueMap>) {
          return to_json(content);
        } else if constexpr (std::is_same_v<Content, std::uint64_t>) {
          return content == std::numeric_limits<std::uint64_t>::max() ? Json(nullptr) : Json(content);
        } else if constexpr (std::is_same_v<Content, core::NumberAndName>) {
          return Json::array({content.first, content.second});
        } else if constexpr (std::is_same_v<Content, core::StringMap>) {
          Json object = Json::object();
          for (const auto& [key, text] : content) object[key] = text;
          return object;
        } else {
          return Json(content);
        }
      },
      value.storage);
}

Json to_json(const core::ValueMap& map) {
  Json object = Json::object();
  for (const auto& [key, value] : map) object[key] = to_json(value);
  return object;
}

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string document(std::string_view key, Json content) {
  Json json;
  json["version"] = 1;
  json[std::string(key)] = std::move(content);
  return line_of(json);
}

}  // namespace

std::string json_list(std::string_view key, const std::vector<core::ValueMap>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(to_json(row));
  return document(key, std::move(list));
}

std::string json_object(std::string_view key, const core::ValueMap& object) { return document(key, to_json(object)); }

std::string json_line(const core::ValueMap& object) { return line_of(to_json(object)); }

}  // namespace mljobd::client
