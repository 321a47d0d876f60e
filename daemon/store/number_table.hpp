// The few facts that are not about one job. Throws SQLite::Exception; transactions are the caller's.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "core/types.hpp"

namespace mljobd::store {

class NumberTable {
 public:
  explicit NumberTable(SQLite::Database& database);

  [[nodiscard]] core::JobId last_id();
  void raise_last_id(core::JobId id);
  [[nodiscard]] bool draining();
  void set_draining(bool draining);

 private:
  SQLite::Statement last_id_;
  SQLite::Statement raise_last_id_;
  SQLite::Statement draining_;
  SQLite::Statement set_draining_;
};

}  // namespace mljobd::store
