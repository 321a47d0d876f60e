#include "store/storage_error.hpp"

#include <sqlite3.h>

namespace mljobd::store {
namespace {

std::string attempt(Access access, const std::string& path) {
  switch (access) {
    case Access::open:
      return "cannot open the job records " + path;
    case Access::read:
      return "cannot read job records from " + path;
    case Access::write:
      break;
  }
  return "cannot write job records to " + path;
}

std::string remedy(const SQLite::Exception& error, Access access) {
  const std::string unchanged = access == Access::write ? ", nothing was changed" : "";
  switch (primary_code(error)) {
    case SQLITE_FULL:
      return "the disk is full; free space there" + unchanged;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process keeps them locked; close it and try again" + unchanged;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return std::string(error.what()) + "; check that the directory exists and is writable" + unchanged;
    case SQLITE_IOERR:
      return std::string(error.what()) + "; check the free space and the kernel log for the disk";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return std::string(error.what()) + "; restart mljobd, which keeps the damaged file and begins a new one";
    default:
      return error.what();
  }
}

}  // namespace

int primary_code(const SQLite::Exception& error) { return error.getErrorCode() & 0xFF; }

bool is_damage(const SQLite::Exception& error) {
  return primary_code(error) == SQLITE_CORRUPT || primary_code(error) == SQLITE_NOTADB;
}

core::Error storage_error(const SQLite::Exception& error, Access access, const std::string& path) {
  return {core::ErrorCode::storage, attempt(access, path) + ": " + remedy(error, access)};
}

core::Error storage_error(const std::exception& error, Access access, const std::string& path) {
  return {core::ErrorCode::storage, attempt(access, path) + ": " + error.what()};
}

}  // namespace mljobd::store
