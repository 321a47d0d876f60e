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

// Appends an a{sv}. Ten thousand rows are to be written in a moment, and each variant of sdbus-c++ is a message of its
// own, made and copied.
void write(sdbus::Message& message, const core::ValueMap& values);

}  // namespace mljobd::bus
