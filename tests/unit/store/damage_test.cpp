// A night's jobs must not be lost, nor the daemon kept from starting, because a file went bad.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <catch2/catch.hpp>

#include "store/database_file.hpp"
#include "store/store.hpp"
#include "store_support.hpp"

namespace mljobd::store {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

void make_database(const std::string& path, core::JobId jobs) {
  auto store = value_of(Store::open(path));
  ChangeSet changes;
  for (core::JobId id = 1; id <= jobs; ++id) changes.jobs.push_back(job_with(id));
  require_success(store.save(changes));
}

void execute(const std::string& path, const std::string& sql) {
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

void check_set_aside(const TemporaryDirectory& directory, const std::string& kept_content) {
  auto store = value_of(Store::open(directory.database()));
  REQUIRE(store.set_aside().has_value());
  CHECK(store.set_aside()->starts_with(directory.database() + ".damaged-"));
  CHECK(read_file(*store.set_aside()) == kept_content);
  REQUIRE(store.problems().size() == 1);
  CHECK(store.problems().front().find(*store.set_aside()) != std::string::npos);
  require_success(store.save({.jobs = {job_with(9)}}));
  CHECK(ids_of(value_of(store.list({}))) == std::vector<core::JobId>{9});
}

TEST_CASE("a file that is no database is set aside and a fresh one begun") {
  const TemporaryDirectory directory;
  const std::string garbage(8192, 'x');
  write_file(directory.database(), garbage);
  write_file(directory.database() + "-wal", "stale log");
  check_set_aside(directory, garbage);
  const auto names = directory.names();
  CHECK(std::count_if(names.begin(), names.end(), [](const auto& name) {
          return name.find(".damaged-") != std::string::npos && name.ends_with("-wal");
        }) == 1);
  CHECK_FALSE(value_of(Store::open(directory.database())).set_aside().has_value());
}

TEST_CASE("a database cut short is set aside") {
  const TemporaryDirectory directory;
  make_database(directory.database(), 500);
  const std::string half = read_file(directory.database()).substr(0, 5 * 4096);
  write_file(directory.database(), half);
  check_set_aside(directory, half);
}

TEST_CASE("a database with a page of noise is set aside") {
  const TemporaryDirectory directory;
  make_database(directory.database(), 500);
  std::string content = read_file(directory.database());
  content.replace(4096, 4096, std::string(4096, '\x5A'));
  write_file(directory.database(), content);
  check_set_aside(directory, content);
}

// Large enough that a start does not read all of it; the damage is in an old job that nothing needs.
TEST_CASE("damage that shows while the daemon runs is dealt with at the next start") {
  const TemporaryDirectory directory;
  {
    auto store = value_of(Store::open(directory.database()));
    ChangeSet changes;
    for (core::JobId id = 1; id <= 900; ++id) {
      changes.jobs.push_back(id % 2 == 0 ? job_with(id) : finished_job(id, at(5)));
      changes.jobs.back().spec.environment = {"LARGE=" + std::string(20'000, 'x')};
    }
    require_success(store.save(changes));
  }
  execute(directory.database(), "PRAGMA wal_checkpoint(TRUNCATE)");
  std::string content = read_file(directory.database());
  REQUIRE(content.size() > (16U << 20U));
  const auto root =
      static_cast<std::size_t>(SQLite::Database(directory.database())
                                   .execAndGet("SELECT rootpage FROM sqlite_schema WHERE name = 'jobs_name'")
                                   .getInt64());
  content.replace((root - 1) * 4096, 4096, std::string(4096, '\x5A'));
  write_file(directory.database(), content);
  {
    auto store = value_of(Store::open(directory.database()));
    CHECK_FALSE(store.set_aside().has_value());
    CHECK(value_of(store.load_unfinished()).size() == 450);
    const auto saved = store.save({.jobs = {job_with(1000)}});
    REQUIRE_FALSE(saved);
    CHECK(saved.error().message.find("restart mljobd, which keeps the damaged file and begins a new one") !=
          std::string::npos);
  }
  check_set_aside(directory, content);
  CHECK_FALSE(std::filesystem::exists(directory.database() + ".suspect"));
  CHECK_FALSE(value_of(Store::open(directory.database())).set_aside().has_value());
}

TEST_CASE("a large database whose unfinished jobs are damaged is set aside at once") {
  const TemporaryDirectory directory;
  {
    auto store = value_of(Store::open(directory.database()));
    ChangeSet changes;
    for (core::JobId id = 1; id <= 900; ++id) {
      changes.jobs.push_back(job_with(id));
      changes.jobs.back().spec.environment = {"LARGE=" + std::string(20'000, 'x')};
    }
    require_success(store.save(changes));
  }
  std::string content = read_file(directory.database());
  content.replace(content.size() / 2, std::size_t{256} * 1024, std::string(std::size_t{256} * 1024, '\0'));
  write_file(directory.database(), content);
  check_set_aside(directory, content);
}

TEST_CASE("a database without one of its tables is set aside") {
  const TemporaryDirectory directory;
  make_database(directory.database(), 1);
  execute(directory.database(), "DROP TABLE events");
  const auto content = read_file(directory.database());
  check_set_aside(directory, content);
}

TEST_CASE("an empty file is a new database") {
  const TemporaryDirectory directory;
  write_file(directory.database(), "");
  const auto store = value_of(Store::open(directory.database()));
  CHECK_FALSE(store.set_aside().has_value());
}

TEST_CASE("files set aside in the same second do not replace each other") {
  const TemporaryDirectory directory;
  write_file(directory.database(), "one");
  const auto first = value_of(move_aside(directory.database(), at(1'700'000'000)));
  write_file(directory.database(), "two");
  const auto second = value_of(move_aside(directory.database(), at(1'700'000'000)));
  CHECK(first == directory.database() + ".damaged-20231114T221320Z");
  CHECK(second == first + "-2");
  CHECK(read_file(first) == "one");
  CHECK(read_file(second) == "two");
}

TEST_CASE("a database of a newer mljobd is refused and not touched") {
  const TemporaryDirectory directory;
  make_database(directory.database(), 3);
  execute(directory.database(), "PRAGMA user_version = 7");
  const auto before = read_file(directory.database());
  const auto opened = Store::open(directory.database());
  REQUIRE_FALSE(opened);
  CHECK(opened.error() ==
        core::Error{core::ErrorCode::storage, directory.database() +
                                                  " was written by a newer mljobd (schema 7, this one knows 4): "
                                                  "upgrade, or move it away"});
  CHECK(read_file(directory.database()) == before);
}

TEST_CASE("a database of another program is refused and not touched") {
  const TemporaryDirectory directory;
  execute(directory.database(), "CREATE TABLE bookmarks (url TEXT)");
  const auto before = read_file(directory.database());
  const auto opened = Store::open(directory.database());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find("another program") != std::string::npos);
  CHECK(read_file(directory.database()) == before);
}

TEST_CASE("a place where no file can be made is an error that names it") {
  const TemporaryDirectory directory;
  const auto missing = Store::open(directory.path() + "/no/such/place.db");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find(directory.path() + "/no/such/place.db") != std::string::npos);
  const auto folder = Store::open(directory.path());
  REQUIRE_FALSE(folder);
  CHECK(folder.error().message == directory.path() + " is not a regular file: move it away");
}

TEST_CASE("permissions of an existing database are tightened") {
  const TemporaryDirectory directory;
  make_database(directory.database(), 1);
  std::filesystem::permissions(directory.database(), std::filesystem::perms(0644));
  const auto store = value_of(Store::open(directory.database()));
  CHECK(std::filesystem::status(directory.database()).permissions() == std::filesystem::perms(0600));
}

TEST_CASE("one record that cannot be read costs no other job") {
  const TemporaryDirectory directory;
  make_database(directory.database(), 4);
  execute(directory.database(),
          "UPDATE jobs SET record = '{\"state\": {\"state\": \"mel' WHERE id = 2;"
          "UPDATE jobs SET record = '{\"state\": {\"state\": \"melting\"}}' WHERE id = 3;"
          "DELETE FROM specifications WHERE job = 4;");
  auto store = value_of(Store::open(directory.database()));
  CHECK_FALSE(store.set_aside().has_value());
  CHECK(ids_of(value_of(store.load_unfinished())) == std::vector<core::JobId>{1});
  CHECK(ids_of(value_of(store.list({}))) == std::vector<core::JobId>{1});
  REQUIRE(store.problems().size() == 3);
  CHECK(store.problems()[1] == "the record of job 3 cannot be read and is left out: state: unknown word 'melting'");
  CHECK(store.problems()[2] == "the record of job 4 cannot be read and is left out: its specification is missing");

  const auto loaded = store.load(3);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message == "the record of job 3 cannot be read: state: unknown word 'melting'");
  CHECK(value_of(store.last_id()) == 4);

  require_success(store.save({.jobs = {job_with(3)}}));
  CHECK(store.problems().size() == 2);
  CHECK(value_of(store.load(3)) == job_with(3));
}

TEST_CASE("problems are remembered up to a bound") {
  const TemporaryDirectory directory;
  make_database(directory.database(), 300);
  execute(directory.database(), "UPDATE jobs SET record = '?'");
  const auto store = value_of(Store::open(directory.database()));
  CHECK(value_of(store.load_unfinished()).empty());
  CHECK(store.problems().size() == Store::problems_limit);
}

TEST_CASE("unreadable finished jobs can still be pruned") {
  const TemporaryDirectory directory;
  {
    auto store = value_of(Store::open(directory.database()));
    require_success(store.save({.jobs = {finished_job(1, at(5))}}));
  }
  execute(directory.database(), "UPDATE jobs SET record = '?'");
  auto store = value_of(Store::open(directory.database()));
  CHECK(value_of(store.list({})).empty());
  CHECK(store.problems().size() == 1);
  CHECK(value_of(store.prune(at(100), 10)).size() == 1);
  CHECK(store.problems().empty());
}

}  // namespace
}  // namespace mljobd::store
