// What a document changes in the settings, and whether the outcome holds together.
#pragma once

#include "config/document.hpp"
#include "core/settings.hpp"

namespace mljobd::config {

[[nodiscard]] Checked<core::Settings> apply_layer(const Node& document, core::Settings base);

}  // namespace mljobd::config
