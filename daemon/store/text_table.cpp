#include "store/text_table.hpp"

#include "store/query.hpp"

namespace mljobd::store {

TextTable::TextTable(SQLite::Database& database)
    : load_(database, "SELECT value FROM texts WHERE name = ?"),
      save_(database, "INSERT INTO texts (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2") {}

std::string TextTable::load(const std::string& name) {
  Query query(load_);
  query.with(name);
  return query.next() ? query.text(0) : std::string();
}

void TextTable::save(const std::string& name, const std::string& value) { Query(save_).with(name).with(value).run(); }

}  // namespace mljobd::store
