#include "store/store.hpp"

#include <string>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "store_support.hpp"

namespace mljobd::store {
namespace {

using Ids = std::vector<core::JobId>;

EventRecord event(core::JobId job, std::int64_t seconds, const std::string& message) {
  return {.time = at(seconds),
          .job = job,
          .kind = "state",
          .old_state = "queued",
          .new_state = "starting",
          .reason = "",
          .message = message};
}

std::vector<std::string> messages_of(const std::vector<EventRecord>& events) {
  std::vector<std::string> messages;
  for (const auto& entry : events) messages.push_back(entry.message);
  return messages;
}

TEST_CASE("a new store is empty, private and remembers nothing") {
  const TemporaryDirectory directory;
  const auto store = value_of(Store::open(directory.database()));
  CHECK(value_of(store.load_unfinished()).empty());
  CHECK_FALSE(value_of(store.load(1)).has_value());
  CHECK(value_of(store.list({})).empty());
  CHECK(value_of(store.list_events({})).empty());
  CHECK(value_of(store.last_id()) == 0);
  CHECK_FALSE(value_of(store.draining()));
  CHECK(value_of(store.finished_count()) == 0);
  CHECK_FALSE(store.set_aside().has_value());
  CHECK(store.problems().empty());
  for (const auto& name : directory.names()) {
    CAPTURE(name);
    struct stat status{};
    REQUIRE(stat((directory.path() + "/" + name).c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
  }
}

TEST_CASE("what was saved is there after a restart") {
  const TemporaryDirectory directory;
  core::Job running = job_with(7, core::Running{});
  running.spec.environment = {"A=ä", "B=\xFF"};
  const core::Job finished = finished_job(8, at(50), core::JobResult::oom);
  {
    auto store = value_of(Store::open(directory.database()));
    require_success(
        store.save({.jobs = {running, finished, job_with(9)}, .events = {event(7, 5, "ö")}, .draining = true}));
  }
  const auto store = value_of(Store::open(directory.database()));
  CHECK(value_of(store.load_unfinished()) == std::vector{running, job_with(9)});
  CHECK(value_of(store.load(7)) == running);
  CHECK(value_of(store.load(8)) == finished);
  CHECK(value_of(store.list_events({})) == std::vector{event(7, 5, "ö")});
  CHECK(value_of(store.draining()));
  CHECK(value_of(store.last_id()) == 9);
  CHECK(value_of(store.finished_count()) == 1);
}

TEST_CASE("what was saved is there after the process was killed") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.jobs = {job_with(1, core::Running{})}}));
  // The files as a kill -9 leaves them: the log was never folded in.
  const std::string copy = directory.path() + "/copy.db";
  std::filesystem::copy_file(directory.database(), copy);
  std::filesystem::copy_file(directory.database() + "-wal", copy + "-wal");
  const auto reopened = value_of(Store::open(copy));
  CHECK(value_of(reopened.load_unfinished()) == std::vector{job_with(1, core::Running{})});
}

TEST_CASE("a job that is saved again replaces itself") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  core::Job job = job_with(3);
  require_success(store.save({.jobs = {job}}));
  job.state = core::Finished{.result = core::JobResult::cancelled};
  job.spec.environment = {"NEW=1"};
  job.spec.priority = 9;
  require_success(store.save({.jobs = {job}}));
  CHECK(value_of(store.load(3)) == job);
  CHECK(value_of(store.load_unfinished()).empty());
  job.state = core::Queued{};
  require_success(store.save({.jobs = {job}}));
  CHECK(value_of(store.load_unfinished()) == std::vector{job});
  CHECK(value_of(store.finished_count()) == 0);
}

TEST_CASE("a change of state leaves the stored specification alone") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  core::Job job = job_with(3);
  require_success(store.save({.jobs = {job}}));
  SQLite::Database spy(directory.database(), SQLite::OPEN_READWRITE, 1000);
  spy.exec("CREATE TRIGGER refuse BEFORE UPDATE ON specifications BEGIN SELECT raise(ABORT, 'rewritten'); END");
  job.state = core::Running{};
  require_success(store.save({.jobs = {job}}));
  job.spec.environment = {"A=1"};
  CHECK_FALSE(store.save({.jobs = {job}}));
  spy.exec("DROP TRIGGER refuse");
  require_success(store.save({.jobs = {job}}));
  CHECK(value_of(store.load(3)) == job);
}

TEST_CASE("a change set is stored whole or not at all") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  SQLite::Database spy(directory.database(), SQLite::OPEN_READWRITE, 1000);
  spy.exec("CREATE TRIGGER refuse BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'no events'); END");
  const auto saved = store.save({.jobs = {job_with(5)}, .events = {event(5, 1, "x")}, .draining = true});
  REQUIRE_FALSE(saved);
  CHECK(saved.error().code == core::ErrorCode::storage);
  CHECK(value_of(store.load_unfinished()).empty());
  CHECK(value_of(store.last_id()) == 0);
  CHECK_FALSE(value_of(store.draining()));
  spy.exec("DROP TRIGGER refuse");
  require_success(store.save({.jobs = {job_with(5)}, .events = {event(5, 1, "x")}}));
  CHECK(value_of(store.load_unfinished()).size() == 1);
}

TEST_CASE("another process that holds the database makes a save fail, not hang, and the next one works") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  SQLite::Database other(directory.database(), SQLite::OPEN_READWRITE, 1000);
  other.exec("BEGIN IMMEDIATE");
  const auto saved = store.save({.jobs = {job_with(1)}});
  REQUIRE_FALSE(saved);
  CHECK(saved.error().message ==
        "cannot write job records to " + directory.database() +
            ": another process keeps them locked; close it and try again, nothing was changed");
  other.exec("ROLLBACK");
  require_success(store.save({.jobs = {job_with(1)}}));
}

TEST_CASE("a reader beside the daemon does not stop it") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.jobs = {job_with(1)}}));
  SQLite::Database reader(directory.database(), SQLite::OPEN_READONLY);
  SQLite::Statement statement(reader, "SELECT id FROM jobs");
  REQUIRE(statement.executeStep());
  require_success(store.save({.jobs = {job_with(2)}}));
}

TEST_CASE("lists are filtered, newest first, bounded, and without the environment") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  std::vector<core::Job> jobs{job_with(1, core::Running{}), job_with(2), finished_job(3, at(2000)),
                              finished_job(4, at(3000), core::JobResult::oom), job_with(5, core::Held{})};
  jobs[0].spec.environment = {"TOKEN=secret"};
  jobs[1].owner = 0;
  jobs[3].spec.name = "größe";
  jobs[4].spec.class_name = "batch";
  require_success(store.save({.jobs = jobs}));
  const auto listed = [&](const JobFilter& filter) { return ids_of(value_of(store.list(filter))); };
  CHECK(listed({}) == Ids{5, 4, 3, 2, 1});
  CHECK(listed({.ids = {4, 1, 99}}) == Ids{4, 1});
  CHECK(listed({.states = {"running"}}) == Ids{1});
  CHECK(listed({.states = {"oom"}}) == Ids{4});
  CHECK(listed({.states = {"oom", "held", "queued"}}) == Ids{5, 4, 2});
  CHECK(listed({.states = {"finished"}}) == Ids{4, 3});
  CHECK(listed({.states = {"finished", "running"}}) == Ids{4, 3, 1});
  CHECK(listed({.states = {"no such word", "\xFF"}}).empty());
  CHECK(listed({.owner = 0}) == Ids{2});
  CHECK(listed({.owner = 1000, .class_name = "train"}) == Ids{4, 3, 1});
  CHECK(listed({.class_name = "batch"}) == Ids{5});
  CHECK(listed({.name = "größe"}) == Ids{4});
  CHECK(listed({.name = "' OR 1=1 --"}).empty());
  CHECK(listed({.since = at(1005)}) == Ids{5, 4, 3});
  CHECK(listed({.since = at(2001)}) == Ids{4});
  CHECK(listed({.limit = 2}) == Ids{5, 4});
  CHECK(listed({.limit = 0}).empty());
  CHECK(listed({.limit = 4294967295U}).size() == 5);
  const auto first = value_of(store.list({.ids = {1}}));
  core::Job expected = jobs[0];
  expected.spec.environment.clear();
  CHECK(first == std::vector{expected});
}

TEST_CASE("a key finds the owner's latest job that has it, finished or not") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  core::Job first = finished_job(1, at(50));
  first.spec.key = "nightly";
  core::Job second = job_with(2);
  second.spec.key = "nightly";
  core::Job other = job_with(3);
  other.owner = 1001;
  other.spec.key = "nightly";
  require_success(store.save({.jobs = {first, second, other, job_with(4)}}));
  CHECK(value_of(store.find_key(1000, "nightly")) == 2);
  CHECK(value_of(store.find_key(1001, "nightly")) == 3);
  CHECK_FALSE(value_of(store.find_key(1002, "nightly")).has_value());
  CHECK_FALSE(value_of(store.find_key(1000, "weekly")).has_value());
}

TEST_CASE("what a job needs is learned from the last five of its name that ended well") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  const auto with_peak = [](core::JobId id, core::Bytes peak, core::JobResult result = core::JobResult::done) {
    core::Job job = finished_job(id, at(50), result);
    job.attempt.usage.memory_peak = peak;
    return job;
  };
  CHECK_FALSE(value_of(store.memory_peak(1000, "job")).has_value());
  require_success(
      store.save({.jobs = {with_peak(1, 900), with_peak(2, 100), with_peak(3, 300), with_peak(4, 200),
                           with_peak(5, 100), with_peak(6, 100), with_peak(7, 5000, core::JobResult::oom)}}));
  CHECK(value_of(store.memory_peak(1000, "job")) == 300);
  CHECK_FALSE(value_of(store.memory_peak(1000, "other")).has_value());
  CHECK_FALSE(value_of(store.memory_peak(1001, "job")).has_value());
}

TEST_CASE("a database of the first schema is brought up to date with what is in it") {
  const TemporaryDirectory directory;
  {
    auto store = value_of(Store::open(directory.database()));
    require_success(store.save({.jobs = {finished_job(1, at(50)), job_with(2)}}));
  }
  {
    SQLite::Database database(directory.database(), SQLite::OPEN_READWRITE);
    database.exec("DROP TABLE samples; DROP TABLE texts; ALTER TABLE events DROP COLUMN details");
    database.exec("DROP INDEX jobs_key; DROP INDEX jobs_done; ALTER TABLE jobs DROP COLUMN key");
    database.exec("PRAGMA user_version = 1");
  }
  auto store = value_of(Store::open(directory.database()));
  CHECK_FALSE(store.set_aside().has_value());
  CHECK(ids_of(value_of(store.list({}))) == Ids{2, 1});
  core::Job keyed = job_with(3);
  keyed.spec.key = "nightly";
  require_success(store.save({.jobs = {keyed}}));
  CHECK(value_of(store.find_key(1000, "nightly")) == 3);
}

TEST_CASE("a database of the second schema keeps its events, and takes details and texts from then on") {
  const TemporaryDirectory directory;
  {
    auto store = value_of(Store::open(directory.database()));
    require_success(store.save({.jobs = {job_with(2)}, .events = {event(2, 5, "old")}}));
  }
  {
    SQLite::Database database(directory.database(), SQLite::OPEN_READWRITE);
    database.exec("DROP TABLE samples; DROP TABLE texts; ALTER TABLE events DROP COLUMN details");
    database.exec("PRAGMA user_version = 2");
  }
  auto store = value_of(Store::open(directory.database()));
  CHECK_FALSE(store.set_aside().has_value());
  CHECK(value_of(store.list_events({})) == std::vector{event(2, 5, "old")});
  CHECK(value_of(store.load_text("pressure")).empty());
  EventRecord decision = event(2, 6, "park 2");
  decision.details = R"({"action":"park"})";
  require_success(store.save({.events = {decision}, .texts = {{"pressure", "{}"}}}));
  CHECK(value_of(store.list_events({})) == std::vector{event(2, 5, "old"), decision});
  CHECK(value_of(store.load_text("pressure")) == "{}");
}

TEST_CASE("a text replaces the one of its name, and is there after a restart") {
  const TemporaryDirectory directory;
  {
    auto store = value_of(Store::open(directory.database()));
    CHECK_FALSE(ChangeSet{.texts = {{"a", ""}}}.empty());
    require_success(store.save({.texts = {{"a", "1"}, {"b", "ö"}}}));
    require_success(store.save({.texts = {{"a", "2"}}}));
  }
  const auto store = value_of(Store::open(directory.database()));
  CHECK(value_of(store.load_text("a")) == "2");
  CHECK(value_of(store.load_text("b")) == "ö");
  CHECK(value_of(store.load_text("c")).empty());
}

TEST_CASE("a text is stored with the jobs of its change set, or not at all") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.texts = {{"a", "1"}}}));
  SQLite::Database spy(directory.database(), SQLite::OPEN_READWRITE, 1000);
  spy.exec("CREATE TRIGGER refuse BEFORE UPDATE ON texts BEGIN SELECT raise(ABORT, 'no texts'); END");
  CHECK_FALSE(store.save({.jobs = {job_with(5)}, .texts = {{"a", "2"}}}));
  CHECK(value_of(store.load_unfinished()).empty());
  CHECK(value_of(store.load_text("a")) == "1");
}

TEST_CASE("events: the last ones, oldest first") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.events = {event(1, 10, "a"), event(2, 20, "b"), event(0, 30, "c"), event(1, 40, "d")}}));
  require_success(store.save({.events = {event(1, 35, "clock went back")}}));
  const auto listed = [&](const EventFilter& filter) { return messages_of(value_of(store.list_events(filter))); };
  CHECK(listed({}) == std::vector<std::string>{"a", "b", "c", "d", "clock went back"});
  CHECK(listed({.limit = 2}) == std::vector<std::string>{"d", "clock went back"});
  CHECK(listed({.job = 1}) == std::vector<std::string>{"a", "d", "clock went back"});
  CHECK(listed({.job = 1, .since = at(11), .limit = 1}) == std::vector<std::string>{"clock went back"});
  CHECK(listed({.since = at(30)}) == std::vector<std::string>{"c", "d", "clock went back"});
  CHECK(listed({.job = 9}).empty());
}

TEST_CASE("an id is never given out twice, even when its job was forgotten") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.jobs = {finished_job(41, at(5))}}));
  CHECK(value_of(store.prune(at(100), 10)).size() == 1);
  CHECK(value_of(store.last_id()) == 41);
  require_success(store.raise_last_id(100));
  require_success(store.raise_last_id(50));
  CHECK(value_of(store.last_id()) == 100);
  require_success(store.raise_last_id(4294967295U));
  CHECK(value_of(store.last_id()) == 4294967295U);
}

TEST_CASE("prune forgets what is too old, with its events, and nothing else") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  core::Job twice = finished_job(2, at(199));
  twice.attempt.number = 2;
  require_success(store.save({.jobs = {job_with(1, core::Running{}), twice, finished_job(3, at(200))},
                              .events = {event(1, 5, "keep"), event(2, 5, "gone"), event(0, 199, "old daemon"),
                                         event(0, 200, "daemon"), event(3, 5, "keep too")}}));
  CHECK(value_of(store.prune(at(200), 100)) == std::vector{PrunedJob{2, 2}});
  CHECK(ids_of(value_of(store.list({}))) == Ids{3, 1});
  CHECK(messages_of(value_of(store.list_events({}))) == std::vector<std::string>{"keep", "daemon", "keep too"});
  CHECK(value_of(store.prune(at(200), 100)).empty());
  CHECK_FALSE(value_of(store.load(2)).has_value());
}

TEST_CASE("prune keeps so many, the latest to end, and a bounded number goes at a time") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  ChangeSet changes;
  for (core::JobId id = 1; id <= 1500; ++id) changes.jobs.push_back(finished_job(id, at(10'000 - id)));
  require_success(store.save(changes));
  const auto first = value_of(store.prune(at(0), 100));
  CHECK(first.size() == Store::prune_limit);
  CHECK(first.front() == PrunedJob{1500, 1});
  CHECK(value_of(store.prune(at(0), 100)).size() == 400);
  CHECK(value_of(store.prune(at(0), 100)).empty());
  CHECK(value_of(store.finished_count()) == 100);
  CHECK(ids_of(value_of(store.list({}))).front() == 100);
  CHECK(value_of(store.prune(at(0), 0)).size() == 100);
}

TEST_CASE("a job that was cancelled while it waited is as old as its cancellation") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  core::Job job = job_with(1, core::Finished{.result = core::JobResult::cancelled});
  job.submitted = at(10);
  require_success(store.save({.jobs = {job}, .events = {event(1, 500, "cancelled")}}));
  CHECK(value_of(store.prune(at(500), 100)).empty());
  require_success(store.save({.jobs = {job}}));  // saved again without an event: it does not grow older
  CHECK(value_of(store.prune(at(500), 100)).empty());
  CHECK(value_of(store.prune(at(501), 100)).size() == 1);
}

TEST_CASE("an empty change set does nothing") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  CHECK(ChangeSet{}.empty());
  CHECK_FALSE(ChangeSet{.draining = false}.empty());
  require_success(store.save({}));
  CHECK(value_of(store.last_id()) == 0);
}

TEST_CASE("a store can be moved") {
  const TemporaryDirectory directory;
  auto first = value_of(Store::open(directory.database()));
  auto second = std::move(first);
  require_success(second.save({.jobs = {job_with(1)}}));
  CHECK(value_of(second.load(1)) == job_with(1));
}

}  // namespace
}  // namespace mljobd::store
