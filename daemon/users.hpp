// Names of users, from the system's user database.
#pragma once

#include <string>

#include "core/types.hpp"

namespace mljobd {

// Errors: not_authorized, when there is no such user (a job cannot run as nobody known).
[[nodiscard]] core::Expected<std::string> user_name(core::UserId uid);

// The name, or "uid 1234" where there is none.
[[nodiscard]] std::string user_label(core::UserId uid);

}  // namespace mljobd
