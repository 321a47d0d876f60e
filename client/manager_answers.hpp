// What comes from the daemon, from D-Bus variants to the neutral values of core.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "core/value.hpp"

namespace mljobd::client {

using VariantMap = std::map<std::string, sdbus::Variant>;

// A type that this version does not know is left out: a newer daemon may say more.
[[nodiscard]] core::ValueMap values_from(const VariantMap& variants);
[[nodiscard]] std::vector<core::ValueMap> values_from(const std::vector<VariantMap>& rows);

}  // namespace mljobd::client
