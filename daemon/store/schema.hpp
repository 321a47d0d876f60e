// The tables, how an older database becomes a present one, and how a connection is set up.
#pragma once

#include <stdexcept>
#include <string>

#include <SQLiteCpp/Database.h>

#include "core/types.hpp"

namespace mljobd::store {

// The database is not what it should be and cannot be used; thrown, caught in Store::open().
struct DamagedDatabase : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Refuses, without changing a byte of it, a database that a newer mljobd or another program wrote; otherwise sets the
// connection up and brings the tables up to date. Throws SQLite::Exception and DamagedDatabase.
[[nodiscard]] core::Expected<void> prepare_database(SQLite::Database& database, const std::string& path);

}  // namespace mljobd::store
