// The daemon's memory: every job and what happened to it, in one SQLite database.
//
// A save is one transaction and is on disk (write-ahead log, synchronous=FULL) when it returns. No exception leaves
// the class; all errors are ErrorCode::storage. Not thread-safe: one thread uses one Store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/job.hpp"
#include "core/sample_ring.hpp"
#include "core/types.hpp"

namespace mljobd::store {

// One line of history. The words are those of the D-Bus contract; the store does not interpret them.
struct EventRecord {
  core::RealTime time{};
  core::JobId job = 0;  // 0 = the daemon itself
  std::string kind{};
  std::string old_state{};
  std::string new_state{};
  std::string reason{};
  std::string message{};
  std::string details{};  // a JSON object; empty: there are none

  bool operator==(const EventRecord&) const = default;
};

// What a job used, oldest first; it goes on where what is stored of it ends.
struct JobSamples {
  core::JobId job = 0;
  std::vector<core::JobSample> samples{};
};

// One transaction: all of it is stored, or nothing.
struct ChangeSet {
  std::vector<core::Job> jobs{};  // inserted, or replaced by id
  std::vector<EventRecord> events{};
  std::optional<bool> draining{};
  std::vector<std::pair<std::string, std::string>> texts{};  // by name; each replaces the one before
  std::vector<JobSamples> samples{};

  [[nodiscard]] bool empty() const {
    return jobs.empty() && events.empty() && !draining && texts.empty() && samples.empty();
  }
};

// Conditions are joined by "and"; an empty one asks for nothing.
struct JobFilter {
  std::vector<core::JobId> ids{};
  std::vector<std::string> states{};  // words of states or results, any of them
  std::optional<core::UserId> owner{};
  std::string class_name{};
  std::string name{};
  std::optional<core::RealTime> since{};  // submitted or ended then or later
  std::uint32_t limit = 1000;             // at most Store::list_limit, whatever is asked
};

struct EventFilter {
  core::JobId job = 0;  // 0 = of all jobs and of the daemon
  std::optional<core::RealTime> since{};
  std::uint32_t limit = 100;  // at most Store::events_limit, whatever is asked
};

// What else there is of a job that was forgotten (its logs) is named after these.
struct PrunedJob {
  core::JobId id = 0;
  std::uint32_t attempts = 0;

  bool operator==(const PrunedJob&) const = default;
};

class Store {
 public:
  // One answer holds no more than this.
  static constexpr std::uint32_t list_limit = 100000;
  static constexpr std::uint32_t events_limit = 10000;
  // One call of prune() forgets no more jobs than this, so that the event loop is not held up.
  static constexpr std::uint32_t prune_limit = 1000;
  // Of so many that ended latest the samples are kept: 50 KiB each at most.
  static constexpr std::uint32_t sampled_jobs = 2000;
  static constexpr std::size_t problems_limit = 100;

  // Creates the database (mode 0600; its directory must exist) or brings an older one up to date. A damaged one is
  // renamed to PATH.damaged-UTC and a fresh one begun: see set_aside(). One that a newer mljobd wrote, or another
  // program, is refused and left as it is.
  [[nodiscard]] static core::Expected<Store> open(const std::string& path);

  Store(Store&& other) noexcept;
  Store& operator=(Store&& other) noexcept;
  ~Store();

  // Where open() moved a damaged database to. Its last_id() is lost with it: raise_last_id() above every id that
  // units or logs still carry.
  [[nodiscard]] const std::optional<std::string>& set_aside() const;

  // What could not be read since open(): one sentence for a database that was set aside, one for each job record (at
  // most problems_limit are kept). Such a record is left in place and out of every list; its sentence goes when the job
  // is saved again or pruned.
  [[nodiscard]] std::vector<std::string> problems() const;

  // Also raises last_id(). On a full disk nothing is changed and the store works on: try again when space is back.
  [[nodiscard]] core::Expected<void> save(const ChangeSet& changes);

  // Not on disk when it returns, but with the next save() at the latest: a power cut may take them back, and nothing
  // else. Those of a job that is not on record are dropped.
  [[nodiscard]] core::Expected<void> save_samples(const std::vector<JobSamples>& samples);
  // At most core::maximum_samples, oldest first.
  [[nodiscard]] core::Expected<std::vector<core::NumberedSample>> samples(core::JobId job) const;

  [[nodiscard]] core::Expected<std::vector<core::Job>> load_unfinished() const;  // by id
  [[nodiscard]] core::Expected<std::optional<core::Job>> load(core::JobId id) const;
  // Newest (highest id) first. JobSpec::environment is not read and left empty: no list may show it, and it is the
  // bulk of a specification.
  [[nodiscard]] core::Expected<std::vector<core::Job>> list(const JobFilter& filter) const;
  // Their ids only, likewise.
  [[nodiscard]] core::Expected<std::vector<core::JobId>> list_ids(const JobFilter& filter) const;
  // The last `limit` that match, oldest first.
  [[nodiscard]] core::Expected<std::vector<EventRecord>> list_events(const EventFilter& filter) const;

  // The latest job of that owner that was submitted with this key, finished or not.
  [[nodiscard]] core::Expected<std::optional<core::JobId>> find_key(core::UserId owner, const std::string& key) const;
  // The most memory that one of the owner's last five jobs of this name had in use which ended well.
  [[nodiscard]] core::Expected<std::optional<core::Bytes>> memory_peak(core::UserId owner,
                                                                       const std::string& name) const;

  // The highest id ever given out, even if the job was pruned since; 0 = none yet.
  [[nodiscard]] core::Expected<core::JobId> last_id() const;
  [[nodiscard]] core::Expected<void> raise_last_id(core::JobId id);  // never lowers it

  // What ChangeSet::texts last had under this name; empty: nothing.
  [[nodiscard]] core::Expected<std::string> load_text(const std::string& name) const;
  [[nodiscard]] core::Expected<bool> draining() const;
  [[nodiscard]] core::Expected<std::uint64_t> finished_count() const;  // of those still recorded

  // Forgets finished jobs that ended before `older_than`, and the oldest beyond `keep_jobs`, with their events and
  // samples; daemon events before `older_than` as well. Oldest first, at most prune_limit a call: call again while it
  // is full.
  [[nodiscard]] core::Expected<std::vector<PrunedJob>> prune(core::RealTime older_than, std::uint32_t keep_jobs);

 private:
  class Implementation;
  explicit Store(std::unique_ptr<Implementation> implementation);
  static core::Expected<std::unique_ptr<Implementation>> connect(const std::string& path);
  static core::Expected<std::unique_ptr<Implementation>> connect_or_begin_anew(const std::string& path);
  static core::Expected<std::unique_ptr<Implementation>> begin_anew(const std::string& path, const std::string& reason);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace mljobd::store
