// What parts of the daemon want to find again, by name. Throws SQLite::Exception; transactions are the caller's.
#pragma once

#include <string>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

namespace mljobd::store {

class TextTable {
 public:
  explicit TextTable(SQLite::Database& database);

  [[nodiscard]] std::string load(const std::string& name);  // empty: nothing
  void save(const std::string& name, const std::string& value);

 private:
  SQLite::Statement load_;
  SQLite::Statement save_;
};

}  // namespace mljobd::store
