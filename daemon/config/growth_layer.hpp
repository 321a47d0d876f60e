// The object "growth" of a document.
#pragma once

#include "config/document.hpp"
#include "core/settings.hpp"

namespace mljobd::config {

[[nodiscard]] Checked<void> apply_growth(const Node& value, core::Settings& settings);

}  // namespace mljobd::config
