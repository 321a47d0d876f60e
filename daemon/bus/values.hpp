// Conversions between the neutral values of core and D-Bus variants.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::bus {

using VariantMap = std::map<std::string, sdbus::Variant>;

// Errors: invalid_spec, for a D-Bus type that no key of the contract has.
[[nodiscard]] core::Expected<core::ValueMap> from_variants(const VariantMap& variants);

[[nodiscard]] VariantMap to_variants(const core::ValueMap& values);

}  // namespace mljobd::bus
