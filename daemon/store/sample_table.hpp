// The samples of jobs as rows, thinned out as they get older. Throws SQLite::Exception; transactions are the caller's.
#pragma once

#include <optional>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "core/sample_ring.hpp"
#include "core/types.hpp"
#include "store/store.hpp"

namespace mljobd::store {

class SampleTable {
 public:
  explicit SampleTable(SQLite::Database& database);

  // Numbers them on from the last one and removes what is too many. Those of a job that is not on record are dropped.
  void append(const JobSamples& batch);
  [[nodiscard]] std::vector<core::NumberedSample> list(core::JobId job);  // oldest first
  void erase_of_job(core::JobId job);
  // Of those that ended, but for the latest; of so many at most.
  void erase_of_ended(std::int64_t keep, std::int64_t most);

 private:
  [[nodiscard]] std::optional<core::SampleNumber> next_number(core::JobId job);
  void insert(core::JobId job, core::SampleNumber number, const core::JobSample& sample);
  void thin_out(core::JobId job, core::SampleNumber newest);

  SQLite::Statement next_number_;
  SQLite::Statement insert_;
  SQLite::Statement thin_out_;
  SQLite::Statement list_;
  SQLite::Statement erase_of_job_;
  SQLite::Statement erase_of_ended_;
};

}  // namespace mljobd::store
