// What comes from the daemon, from D-Bus messages to the neutral values of core.
#pragma once

#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "core/value.hpp"

namespace mljobd::client {

// An a{sv} and an aa{sv}, read without a variant of sdbus-c++ for every value: each of those is a message of its own,
// and a list has ten thousand rows. A type that this version does not know is left out: a newer daemon may say more.
// Throws sdbus::Error for any other content.
[[nodiscard]] core::ValueMap read_dictionary(sdbus::Message& message);
[[nodiscard]] std::vector<core::ValueMap> read_dictionaries(sdbus::Message& message);

}  // namespace mljobd::client
