#pragma once

namespace mljobd {

inline constexpr const char* version = MLJOBD_VERSION;

}  // namespace mljobd
