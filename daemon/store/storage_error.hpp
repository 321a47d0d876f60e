// What SQLite reports, as sentences that an administrator can act on.
#pragma once

#include <exception>
#include <string>

#include <SQLiteCpp/Exception.h>

#include "core/types.hpp"

namespace mljobd::store {

enum class Access { open, read, write };

[[nodiscard]] core::Error storage_error(const SQLite::Exception& error, Access access, const std::string& path);
[[nodiscard]] core::Error storage_error(const std::exception& error, Access access, const std::string& path);

}  // namespace mljobd::store
