// The history as rows. Throws SQLite::Exception; transactions are the caller's.
#pragma once

#include <cstdint>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "core/types.hpp"
#include "store/store.hpp"

namespace mljobd::store {

class EventTable {
 public:
  explicit EventTable(SQLite::Database& database);

  void append(const EventRecord& event);
  [[nodiscard]] std::vector<EventRecord> list(const EventFilter& filter);
  void erase_of_job(core::JobId job);
  void erase_of_daemon(core::RealTime older_than, std::uint32_t limit);

 private:
  SQLite::Database& database_;
  SQLite::Statement append_;
  SQLite::Statement erase_of_job_;
  SQLite::Statement erase_of_daemon_;
};

}  // namespace mljobd::store
