// One use of a prepared statement: parameters in order, rows out, and reset however it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

namespace mljobd::store {

// A statement that is left in the middle holds a read transaction open, and the log could never be emptied.
class Query {
 public:
  explicit Query(SQLite::Statement& statement) : statement_(statement) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() { static_cast<void>(statement_.tryReset()); }

  // Binds the next parameter. Texts are not copied: they must outlive the query.
  Query& with(std::int64_t value) {
    statement_.bind(++parameter_, value);
    return *this;
  }
  Query& with(const std::string& value) {
    statement_.bindNoCopy(++parameter_, value);
    return *this;
  }
  Query& with(std::string&& value) = delete;
  Query& with(const std::optional<std::int64_t>& value) {
    if (value) return with(*value);
    statement_.bind(++parameter_);
    return *this;
  }

  bool next() { return statement_.executeStep(); }
  void run() { statement_.exec(); }

  [[nodiscard]] bool is_null(int column) const { return statement_.isColumnNull(column); }
  [[nodiscard]] std::int64_t number(int column) const { return statement_.getColumn(column).getInt64(); }
  [[nodiscard]] std::string text(int column) const { return statement_.getColumn(column).getString(); }

 private:
  SQLite::Statement& statement_;
  int parameter_ = 0;
};

}  // namespace mljobd::store
