#include "store/number_table.hpp"

#include <cstdint>

#include "store/query.hpp"

namespace mljobd::store {

NumberTable::NumberTable(SQLite::Database& database)
    : last_id_(database, "SELECT value FROM numbers WHERE name = 'last_id'"),
      raise_last_id_(database, "UPDATE numbers SET value = ?1 WHERE name = 'last_id' AND value < ?1"),
      draining_(database, "SELECT value FROM numbers WHERE name = 'draining'"),
      set_draining_(database, "UPDATE numbers SET value = ?1 WHERE name = 'draining' AND value <> ?1") {}

core::JobId NumberTable::last_id() {
  Query query(last_id_);
  return query.next() ? static_cast<core::JobId>(query.number(0)) : 0;
}

void NumberTable::raise_last_id(core::JobId id) { Query(raise_last_id_).with(std::int64_t{id}).run(); }

bool NumberTable::draining() {
  Query query(draining_);
  return query.next() && query.number(0) != 0;
}

void NumberTable::set_draining(bool draining) { Query(set_draining_).with(std::int64_t{draining ? 1 : 0}).run(); }

}  // namespace mljobd::store
