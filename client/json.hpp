// The daemon's dictionaries as JSON: --json of every verb that has it. Keys are those of the D-Bus contract.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/value.hpp"

namespace mljobd::client {

// {"version":1,"<key>":[…]} and a newline. The "unlimited" of the contract is null: no JSON reader counts up to 2^64.
[[nodiscard]] std::string json_list(std::string_view key, const std::vector<core::ValueMap>& rows);

// Of an event the text `details` is a JSON object already, and becomes a part of the document.
[[nodiscard]] std::string json_events(const std::vector<core::ValueMap>& events);
[[nodiscard]] std::string json_event_line(const core::ValueMap& event);

// {…} and a newline, of a stream that has one object a line.
[[nodiscard]] std::string json_line(const core::ValueMap& object);

// {"version":1,"<key>":{…}} and a newline.
[[nodiscard]] std::string json_object(std::string_view key, const core::ValueMap& object);

}  // namespace mljobd::client
