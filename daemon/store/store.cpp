#include "store/store.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <utility>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Transaction.h>
#include <sqlite3.h>

#include "store/database_file.hpp"
#include "store/event_table.hpp"
#include "store/job_table.hpp"
#include "store/number_table.hpp"
#include "store/sample_table.hpp"
#include "store/schema.hpp"
#include "store/storage_error.hpp"
#include "store/text_table.hpp"

namespace mljobd::store {
namespace {

using core::Expected;

// Long enough for a backup by hand to pass, short enough for the event loop.
constexpr int busy_timeout_milliseconds = 250;

// When the change set says that the job became finished; the epoch when it does not.
core::RealTime finished_at(const ChangeSet& changes, core::JobId id) {
  core::RealTime latest{};
  for (const auto& event : changes.events) {
    if (event.job == id) latest = std::max(latest, event.time);
  }
  return latest;
}

// What is committed meanwhile is synced with the next commit after it. Only in WAL mode: with a rollback journal a
// power cut could then damage the database.
class SyncedLater {
 public:
  explicit SyncedLater(SQLite::Database& database) : database_(database) {
    if (database.execAndGet("PRAGMA journal_mode").getString() == "wal") database.exec("PRAGMA synchronous = NORMAL");
  }
  SyncedLater(const SyncedLater&) = delete;
  SyncedLater& operator=(const SyncedLater&) = delete;
  ~SyncedLater() { database_.tryExec("PRAGMA synchronous = FULL"); }

 private:
  SQLite::Database& database_;
};

}  // namespace

class Store::Implementation {
 public:
  Implementation(SQLite::Database&& database, std::string path)
      : path_(std::move(path)), database_(std::move(database)) {}

  [[nodiscard]] SQLite::Database& database() { return database_; }
  [[nodiscard]] JobTable& jobs() { return jobs_; }
  [[nodiscard]] EventTable& events() { return events_; }
  [[nodiscard]] NumberTable& numbers() { return numbers_; }
  [[nodiscard]] TextTable& texts() { return texts_; }
  [[nodiscard]] SampleTable& samples() { return samples_; }
  [[nodiscard]] const std::optional<std::string>& set_aside() const { return set_aside_; }

  void note_set_aside(std::string target, const std::string& reason) {
    set_aside_problem_ = "the job records in " + path_ + " were damaged (" + reason + "): they are kept as " + target +
                         ", all jobs in them are forgotten";
    set_aside_ = std::move(target);
  }
  void note_problem(core::JobId id, const std::string& reason) {
    if (problems_.size() < problems_limit || problems_.contains(id)) problems_[id] = reason;
  }
  void forget_problem(core::JobId id) { problems_.erase(id); }
  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> sentences;
    if (!set_aside_problem_.empty()) sentences.push_back(set_aside_problem_);
    for (const auto& [id, reason] : problems_) {
      sentences.push_back("the record of job " + std::to_string(id) + " cannot be read and is left out: " + reason);
    }
    return sentences;
  }

  // Runs `action`, which may throw, and returns what it returns; an exception becomes the error.
  template <class Action>
  auto guarded(Access access, Action action) -> decltype(action()) {
    try {
      return action();
    } catch (const SQLite::Exception& error) {
      if (is_damage(error)) raise_suspicion(path_);
      return tl::unexpected(storage_error(error, access, path_));
    } catch (const std::exception& error) {
      return tl::unexpected(storage_error(error, access, path_));
    }
  }

 private:
  std::string path_;
  std::optional<std::string> set_aside_;
  std::string set_aside_problem_;
  std::map<core::JobId, std::string> problems_;
  SQLite::Database database_;
  JobTable jobs_{database_, [this](core::JobId id, const std::string& reason) { note_problem(id, reason); }};
  EventTable events_{database_};
  NumberTable numbers_{database_};
  TextTable texts_{database_};
  SampleTable samples_{database_};
};

// Throws DamagedDatabase, with everything closed again.
Expected<std::unique_ptr<Store::Implementation>> Store::connect(const std::string& path) {
  try {
    SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX, busy_timeout_milliseconds);
    if (auto prepared = prepare_database(database, path); !prepared) return tl::unexpected(prepared.error());
    return std::make_unique<Implementation>(std::move(database), path);
  } catch (const SQLite::Exception& error) {
    // SQLITE_ERROR: a table or column that this version of the schema has is not there.
    if (is_damage(error) || primary_code(error) == SQLITE_ERROR) throw DamagedDatabase(error.what());
    return tl::unexpected(storage_error(error, Access::open, path));
  }
}

Expected<std::unique_ptr<Store::Implementation>> Store::begin_anew(const std::string& path, const std::string& reason) {
  auto target = move_aside(path, std::chrono::time_point_cast<core::Microseconds>(std::chrono::system_clock::now()));
  if (!target) return tl::unexpected(target.error());
  if (auto created = ensure_private_file(path); !created) return tl::unexpected(created.error());
  auto implementation = connect(path);
  if (implementation) (*implementation)->note_set_aside(*std::move(target), reason);
  return implementation;
}

Expected<std::unique_ptr<Store::Implementation>> Store::connect_or_begin_anew(const std::string& path) {
  if (auto ready = ensure_private_file(path); !ready) return tl::unexpected(ready.error());
  try {
    return connect(path);
  } catch (const DamagedDatabase& damage) {
    return begin_anew(path, damage.what());
  }
}

Expected<Store> Store::open(const std::string& path) {
  try {
    auto implementation = connect_or_begin_anew(path);
    if (!implementation) return tl::unexpected(implementation.error());
    return Store(*std::move(implementation));
  } catch (const std::exception& error) {
    return tl::unexpected(storage_error(error, Access::open, path));
  }
}

Store::Store(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Store::Store(Store&& other) noexcept = default;
Store& Store::operator=(Store&& other) noexcept = default;
Store::~Store() = default;

const std::optional<std::string>& Store::set_aside() const { return implementation_->set_aside(); }
std::vector<std::string> Store::problems() const { return implementation_->problems(); }

Expected<void> Store::save(const ChangeSet& changes) {
  if (changes.empty()) return {};
  auto& store = *implementation_;
  return store.guarded(Access::write, [&]() -> Expected<void> {
    SQLite::Transaction transaction(store.database(), SQLite::TransactionBehavior::IMMEDIATE);
    core::JobId highest = 0;
    for (const auto& job : changes.jobs) {
      store.jobs().save(job, finished_at(changes, job.id));
      highest = std::max(highest, job.id);
    }
    if (highest != 0) store.numbers().raise_last_id(highest);
    for (const auto& event : changes.events) store.events().append(event);
    if (changes.draining) store.numbers().set_draining(*changes.draining);
    for (const auto& [name, value] : changes.texts) store.texts().save(name, value);
    for (const auto& batch : changes.samples) store.samples().append(batch);
    transaction.commit();
    for (const auto& job : changes.jobs) store.forget_problem(job.id);
    return {};
  });
}

Expected<void> Store::save_samples(const std::vector<JobSamples>& samples) {
  if (samples.empty()) return {};
  auto& store = *implementation_;
  return store.guarded(Access::write, [&]() -> Expected<void> {
    const SyncedLater later(store.database());
    SQLite::Transaction transaction(store.database(), SQLite::TransactionBehavior::IMMEDIATE);
    for (const auto& batch : samples) store.samples().append(batch);
    transaction.commit();
    return {};
  });
}

Expected<std::vector<core::NumberedSample>> Store::samples(core::JobId job) const {
  auto& store = *implementation_;
  return store.guarded(Access::read,
                       [&]() -> Expected<std::vector<core::NumberedSample>> { return store.samples().list(job); });
}

Expected<std::vector<core::Job>> Store::load_unfinished() const {
  auto& store = *implementation_;
  return store.guarded(Access::read,
                       [&]() -> Expected<std::vector<core::Job>> { return store.jobs().load_unfinished(); });
}

Expected<std::optional<core::Job>> Store::load(core::JobId id) const {
  auto& store = *implementation_;
  return store.guarded(Access::read, [&]() -> Expected<std::optional<core::Job>> {
    return store.jobs().load(id).map_error([&](core::Error error) {
      error.message = "the record of job " + std::to_string(id) + " cannot be read: " + error.message;
      return error;
    });
  });
}

Expected<std::vector<core::Job>> Store::list(const JobFilter& filter) const {
  auto& store = *implementation_;
  return store.guarded(Access::read, [&]() -> Expected<std::vector<core::Job>> { return store.jobs().list(filter); });
}

Expected<std::vector<EventRecord>> Store::list_events(const EventFilter& filter) const {
  auto& store = *implementation_;
  return store.guarded(Access::read,
                       [&]() -> Expected<std::vector<EventRecord>> { return store.events().list(filter); });
}

Expected<core::JobId> Store::last_id() const {
  auto& store = *implementation_;
  return store.guarded(Access::read, [&]() -> Expected<core::JobId> {
    return std::max(store.numbers().last_id(), store.jobs().highest_id());
  });
}

Expected<void> Store::raise_last_id(core::JobId id) {
  auto& store = *implementation_;
  return store.guarded(Access::write, [&]() -> Expected<void> {
    store.numbers().raise_last_id(id);
    return {};
  });
}

Expected<std::vector<core::JobId>> Store::list_ids(const JobFilter& filter) const {
  auto& store = *implementation_;
  return store.guarded(Access::read,
                       [&]() -> Expected<std::vector<core::JobId>> { return store.jobs().list_ids(filter); });
}

Expected<std::optional<core::JobId>> Store::find_key(core::UserId owner, const std::string& key) const {
  auto& store = *implementation_;
  return store.guarded(Access::read,
                       [&]() -> Expected<std::optional<core::JobId>> { return store.jobs().find_key(owner, key); });
}

Expected<std::optional<core::Bytes>> Store::memory_peak(core::UserId owner, const std::string& name) const {
  auto& store = *implementation_;
  return store.guarded(Access::read,
                       [&]() -> Expected<std::optional<core::Bytes>> { return store.jobs().memory_peak(owner, name); });
}

Expected<std::string> Store::load_text(const std::string& name) const {
  auto& store = *implementation_;
  return store.guarded(Access::read, [&]() -> Expected<std::string> { return store.texts().load(name); });
}

Expected<bool> Store::draining() const {
  auto& store = *implementation_;
  return store.guarded(Access::read, [&]() -> Expected<bool> { return store.numbers().draining(); });
}

Expected<std::uint64_t> Store::finished_count() const {
  auto& store = *implementation_;
  return store.guarded(Access::read, [&]() -> Expected<std::uint64_t> { return store.jobs().finished_count(); });
}

Expected<std::vector<PrunedJob>> Store::prune(core::RealTime older_than, std::uint32_t keep_jobs) {
  auto& store = *implementation_;
  return store.guarded(Access::write, [&]() -> Expected<std::vector<PrunedJob>> {
    SQLite::Transaction transaction(store.database(), SQLite::TransactionBehavior::IMMEDIATE);
    auto pruned = store.jobs().prunable(older_than, keep_jobs, prune_limit);
    for (const auto& job : pruned) {
      store.jobs().erase(job.id);
      store.events().erase_of_job(job.id);
      store.samples().erase_of_job(job.id);
    }
    store.events().erase_of_daemon(older_than, prune_limit);
    store.samples().erase_of_ended(sampled_jobs, prune_limit);
    transaction.commit();
    for (const auto& job : pruned) store.forget_problem(job.id);
    return pruned;
  });
}

}  // namespace mljobd::store
