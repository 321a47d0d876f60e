#include "store/schema.hpp"

#include <array>
#include <cstdint>

#include <SQLiteCpp/Transaction.h>
#include <sqlite3.h>

#include "store/database_file.hpp"

namespace mljobd::store {
namespace {

// "mljb": tells our databases from those of other programs.
constexpr std::int32_t application_id = 0x6d6c6a62;

// Step n brings schema n to n+1, each in a transaction of its own. Steps are never edited once released: add one.
constexpr std::array migrations{
    // `ended` is set exactly for finished jobs. The partial indexes keep what a running job changes out of them.
    R"sql(
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, name TEXT NOT NULL, class TEXT NOT NULL, state TEXT NOT NULL,
  result TEXT, submitted INTEGER NOT NULL, ended INTEGER, attempt INTEGER NOT NULL, record TEXT NOT NULL);
CREATE TABLE specifications (job INTEGER PRIMARY KEY, specification TEXT NOT NULL, environment TEXT NOT NULL);
CREATE TABLE events (
  id INTEGER PRIMARY KEY, time INTEGER NOT NULL, job INTEGER NOT NULL, kind TEXT NOT NULL, old_state TEXT NOT NULL,
  new_state TEXT NOT NULL, reason TEXT NOT NULL, message TEXT NOT NULL);
CREATE TABLE numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO numbers VALUES ('last_id', 0), ('draining', 0);
CREATE INDEX jobs_unfinished ON jobs (id) WHERE ended IS NULL;
CREATE INDEX jobs_state ON jobs (state) WHERE ended IS NULL;
CREATE INDEX jobs_result ON jobs (result) WHERE ended IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (ended) WHERE ended IS NOT NULL;
CREATE INDEX jobs_submitted ON jobs (submitted);
CREATE INDEX jobs_owner ON jobs (owner);
CREATE INDEX jobs_name ON jobs (name);
CREATE INDEX events_job ON events (job, time);
)sql",
    // Submissions that repeat themselves, and what jobs of the same name needed before.
    R"sql(
ALTER TABLE jobs ADD COLUMN key TEXT;
CREATE INDEX jobs_key ON jobs (owner, key) WHERE key IS NOT NULL;
CREATE INDEX jobs_done ON jobs (owner, name) WHERE result = 'done';
)sql",
    // Decisions with what speaks for them, and what the pressure policy has done.
    R"sql(
ALTER TABLE events ADD COLUMN details TEXT NOT NULL DEFAULT '';
CREATE TABLE texts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
)sql",
    // What jobs used while they ran. Without a row id of their own those of a job lie side by side.
    R"sql(
CREATE TABLE samples (
  job INTEGER NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL, attempt INTEGER NOT NULL,
  current INTEGER NOT NULL, anon_shmem INTEGER NOT NULL, swap INTEGER NOT NULL, cpu_time INTEGER NOT NULL,
  memory_some INTEGER, memory_full INTEGER, io_some INTEGER, io_full INTEGER,
  PRIMARY KEY (job, number)) WITHOUT ROWID;
)sql",
};

std::int32_t number(SQLite::Database& database, const char* query) { return database.execAndGet(query).getInt(); }

core::Expected<std::int32_t> known_version(SQLite::Database& database, const std::string& path) {
  const auto version = number(database, "PRAGMA user_version");
  const auto application = number(database, "PRAGMA application_id");
  const bool fresh = version == 0 && application == 0 && number(database, "SELECT count(*) FROM sqlite_schema") == 0;
  if (!fresh && application != application_id) {
    return core::failure(core::ErrorCode::storage,
                         path + " is the database of another program: move it away, or give mljobd another path");
  }
  if (version > static_cast<std::int32_t>(migrations.size())) {
    return core::failure(core::ErrorCode::storage,
                         path + " was written by a newer mljobd (schema " + std::to_string(version) +
                             ", this one knows " + std::to_string(migrations.size()) + "): upgrade, or move it away");
  }
  return version;
}

void migrate(SQLite::Database& database, std::int32_t version) {
  for (auto step = static_cast<std::size_t>(version); step < migrations.size(); ++step) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    database.exec(migrations[step]);
    database.exec("PRAGMA application_id = " + std::to_string(application_id));
    database.exec("PRAGMA user_version = " + std::to_string(step + 1));
    transaction.commit();
  }
}

void keep_log_on_close(SQLite::Database& database, bool keep) {
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

void set_up(SQLite::Database& database) {
  // The answer is the mode in force: a file system without shared memory keeps the old journal, which is as safe.
  static_cast<void>(database.execAndGet("PRAGMA journal_mode = WAL").getString());
  database.exec(
      "PRAGMA synchronous = FULL;"      // what was reported must survive a power cut
      "PRAGMA cache_size = -512;"       // KiB: the daemon is small when nothing happens
      "PRAGMA temp_store = MEMORY;"     // sorting must not depend on space in /tmp
      "PRAGMA trusted_schema = OFF;");  // the file is data
  static_cast<void>(database.execAndGet("PRAGMA mmap_size = 0").getInt64());
  static_cast<void>(database.execAndGet("PRAGMA journal_size_limit = 4194304").getInt64());
}

// All of the file is read: 1 s for 100,000 jobs (290 MB) in the page cache, 12 s from a cold disk.
void check_everything(SQLite::Database& database) {
  const auto verdict = database.execAndGet("PRAGMA quick_check(1)").getString();
  if (verdict != "ok") throw DamagedDatabase(verdict);
}

// What the daemon needs to go on: the unfinished jobs, and the ends of the tables, where it will write.
void check_what_is_needed(SQLite::Database& database, std::int32_t version) {
  constexpr std::array queries{
      R"sql(SELECT count(record || specification || environment)
            FROM jobs JOIN specifications ON job = jobs.id WHERE ended IS NULL)sql",
      "SELECT max(id) FROM jobs",
      "SELECT max(job) FROM specifications",
      "SELECT max(id) FROM events",
      "SELECT sum(value) FROM numbers",
  };
  for (const char* query : queries) static_cast<void>(database.execAndGet(query).getInt64());
  // It is looked at before it is brought up to date: an older one has not all tables yet.
  constexpr std::int32_t first_with_samples = 4;
  if (version >= first_with_samples) static_cast<void>(database.execAndGet("SELECT max(job) FROM samples").getInt64());
}

void check(SQLite::Database& database, const std::string& path, std::int32_t version) {
  constexpr std::int64_t quickly_read = std::int64_t{16} << 20;
  const auto size =
      database.execAndGet("PRAGMA page_count").getInt64() * database.execAndGet("PRAGMA page_size").getInt64();
  if (size <= quickly_read || is_suspect(path)) {
    check_everything(database);
    clear_suspicion(path);
  } else {
    check_what_is_needed(database, version);
  }
}

}  // namespace

core::Expected<void> prepare_database(SQLite::Database& database, const std::string& path) {
  keep_log_on_close(database, true);
  const auto version = known_version(database, path);
  if (!version) return tl::unexpected(version.error());
  keep_log_on_close(database, false);
  set_up(database);
  check(database, path, *version);
  migrate(database, *version);
  return {};
}

}  // namespace mljobd::store
