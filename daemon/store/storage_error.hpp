// What SQLite reports, as sentences that an administrator can act on.
#pragma once

#include <exception>
#include <string>

#include <SQLiteCpp/Exception.h>

#include "core/types.hpp"

namespace mljobd::store {

enum class Access { open, read, write };

[[nodiscard]] int primary_code(const SQLite::Exception& error);  // SQLITE_…
// The file is not, or no longer, a sound database.
[[nodiscard]] bool is_damage(const SQLite::Exception& error);
[[nodiscard]] core::Error storage_error(const SQLite::Exception& error, Access access, const std::string& path);
[[nodiscard]] core::Error storage_error(const std::exception& error, Access access, const std::string& path);

}  // namespace mljobd::store
