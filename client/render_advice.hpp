// The page of `jobctl advise`. Pure.
#pragma once

#include <string>

#include "core/value.hpp"

namespace mljobd::client {

// advice: the answer of Manager.Advise.
[[nodiscard]] std::string render_advice(const core::ValueMap& advice, bool colour);

}  // namespace mljobd::client
