#include "client/json.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/value_json.hpp"

namespace mljobd::client {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const core::ValueMap& map) { return json::to_json<Json>(map, json::Unlimited::null); }

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// Empty when it is none.
std::optional<Json> parse_object(const std::string& text) {
  const auto without_limit = [](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    const bool limit = event == Json::parse_event_t::value && parsed.is_number_unsigned() &&
                       parsed.get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max();
    if (limit) parsed = nullptr;
    return true;
  };
  auto json = Json::parse(text, without_limit, false);
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

Json event_json(const core::ValueMap& event) {
  constexpr const char* key = "details";
  Json json = to_json(event);
  const auto found = event.find(key);
  const auto* text = found == event.end() ? nullptr : std::get_if<std::string>(&found->second.storage);
  if (text == nullptr) return json;
  if (auto details = parse_object(*text)) json[key] = *std::move(details);
  return json;
}

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

std::string json_events(const std::vector<core::ValueMap>& events) {
  Json list = Json::array();
  for (const auto& event : events) list.push_back(event_json(event));
  return document("events", std::move(list));
}

std::string json_event_line(const core::ValueMap& event) { return line_of(event_json(event)); }

std::string json_line(const core::ValueMap& object) { return line_of(to_json(object)); }

}  // namespace mljobd::client
