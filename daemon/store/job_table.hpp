// Jobs and their specifications as rows. Throws SQLite::Exception; transactions are the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "core/job.hpp"
#include "core/types.hpp"
#include "store/query.hpp"
#include "store/store.hpp"

namespace mljobd::store {

class JobTable {
 public:
  // Called for each record that cannot be read, with the reason.
  using ProblemHandler = std::function<void(core::JobId, const std::string&)>;

  JobTable(SQLite::Database& database, ProblemHandler on_problem);

  // `finished_at` counts only for a finished job: when it became so, at the earliest.
  void save(const core::Job& job, core::RealTime finished_at);
  // Unset when there is none; an error when it cannot be read.
  [[nodiscard]] core::Expected<std::optional<core::Job>> load(core::JobId id);
  [[nodiscard]] std::vector<core::Job> load_unfinished();
  [[nodiscard]] std::vector<core::Job> list(const JobFilter& filter);
  [[nodiscard]] std::vector<core::JobId> list_ids(const JobFilter& filter);
  [[nodiscard]] core::JobId highest_id();
  [[nodiscard]] std::uint64_t finished_count();
  // The oldest finished ones: those that ended before, or are too many; at most `limit`.
  [[nodiscard]] std::vector<PrunedJob> prunable(core::RealTime older_than, std::uint32_t keep_jobs,
                                                std::uint32_t limit);
  [[nodiscard]] std::optional<core::JobId> find_key(core::UserId owner, const std::string& key);
  [[nodiscard]] std::optional<core::Bytes> memory_peak(core::UserId owner, const std::string& name);
  void erase(core::JobId id);

 private:
  [[nodiscard]] core::Expected<core::Job> read(const Query& row) const;
  [[nodiscard]] std::vector<core::Job> read_all(Query& query) const;
  void save_specification(core::JobId id, const core::JobSpec& specification);

  SQLite::Database& database_;
  ProblemHandler on_problem_;
  SQLite::Statement save_;
  SQLite::Statement save_specification_;
  SQLite::Statement load_;
  SQLite::Statement load_unfinished_;
  SQLite::Statement highest_id_;
  SQLite::Statement finished_count_;
  SQLite::Statement expired_count_;
  SQLite::Statement oldest_;
  SQLite::Statement key_;
  SQLite::Statement peak_;
  SQLite::Statement erase_;
  SQLite::Statement erase_specification_;
};

}  // namespace mljobd::store
