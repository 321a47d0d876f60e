// The daemon's dictionaries as JSON: --json of every verb that has it. Keys are those of the D-Bus contract.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/value.hpp"

namespace mljobd::client {

// {"version":1,"<key>":[…]} and a newline. The "unlimited" of the contract is null: no JSON reader counts up to 2^64.
[[nodiscard]] std::string json_list(std::string_view key, const std::vector<core::ValueMap>& rows);

// {"version":1,"<key>":{…}} and a newline.
[[nodiscard]] std::string json_object(std::string_view key, const core::ValueMap& object);

// {…} and a newline, of a stream that has one object a line.
[[nodiscard]] std::string json_line(const core::ValueMap& object);

}  // namespace mljobd::client
