// -p Property=value: systemd's names for what the specification can say. The other properties of a unit are the
// daemon's own.
#pragma once

#include <string>
#include <string_view>

#include "client/failure.hpp"
#include "client/units.hpp"

namespace mljobd::client {

struct PropertyKey {
  std::string_view property;
  std::string_view key;
  OptionKind kind;
};

struct ParsedProperty {
  PropertyKey key;
  std::string value{};
};

// Errors: usage, saying for a property of the daemon's which option does it instead, if one does.
[[nodiscard]] Outcome<ParsedProperty> parse_property(const std::string& assignment);

}  // namespace mljobd::client
