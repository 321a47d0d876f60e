#include "store/sample_table.hpp"

#include <cstdint>

#include "store/query.hpp"

namespace mljobd::store {
namespace {

std::int64_t count(core::Microseconds duration) { return duration.count(); }

std::optional<std::int64_t> some(const std::optional<core::StallTotals>& stalls) {
  return stalls ? std::optional(count(stalls->some)) : std::nullopt;
}
std::optional<std::int64_t> full(const std::optional<core::StallTotals>& stalls) {
  return stalls ? std::optional(count(stalls->full)) : std::nullopt;
}

// Sizes are never unlimited here, so that all fit into a signed number.
std::int64_t size(core::Bytes bytes) { return static_cast<std::int64_t>(bytes); }

std::optional<core::StallTotals> stalls(const Query& row, int column) {
  if (row.is_null(column) || row.is_null(column + 1)) return std::nullopt;
  return core::StallTotals{.some = core::Microseconds(row.number(column)),
                           .full = core::Microseconds(row.number(column + 1))};
}

core::NumberedSample read(const Query& row) {
  return {.number = static_cast<core::SampleNumber>(row.number(0)),
          .sample = {.time = core::RealTime(core::Microseconds(row.number(1))),
                     .attempt = static_cast<std::uint32_t>(row.number(2)),
                     .memory_current = static_cast<core::Bytes>(row.number(3)),
                     .memory_anon_shmem = static_cast<core::Bytes>(row.number(4)),
                     .swap_current = static_cast<core::Bytes>(row.number(5)),
                     .cpu_time = core::Microseconds(row.number(6)),
                     .memory_stalls = stalls(row, 7),
                     .io_stalls = stalls(row, 9)}};
}

}  // namespace

SampleTable::SampleTable(SQLite::Database& database)
    : next_number_(database, "SELECT (SELECT max(number) + 1 FROM samples WHERE job = ?1) FROM jobs WHERE id = ?1"),
      insert_(database,
              "INSERT INTO samples (job, number, time, attempt, current, anon_shmem, swap, cpu_time, memory_some, "
              "memory_full, io_some, io_full) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      thin_out_(database, "DELETE FROM samples WHERE job = ? AND number BETWEEN ? AND ? AND number % ? <> 0"),
      list_(database,
            "SELECT number, time, attempt, current, anon_shmem, swap, cpu_time, memory_some, memory_full, io_some, "
            "io_full FROM samples WHERE job = ? ORDER BY number"),
      erase_of_job_(database, "DELETE FROM samples WHERE job = ?"),
      erase_of_ended_(database,
                      "DELETE FROM samples WHERE job IN (SELECT id FROM jobs WHERE ended IS NOT NULL "
                      "ORDER BY ended DESC LIMIT ? OFFSET ?)") {}

void SampleTable::append(const JobSamples& batch) {
  if (batch.samples.empty()) return;
  auto number = next_number(batch.job);
  if (!number) return;
  for (const auto& sample : batch.samples) insert(batch.job, (*number)++, sample);
  thin_out(batch.job, *number - 1);
}

std::optional<core::SampleNumber> SampleTable::next_number(core::JobId job) {
  Query query(next_number_);
  query.with(std::int64_t{job});
  if (!query.next()) return std::nullopt;
  return query.is_null(0) ? 0 : static_cast<core::SampleNumber>(query.number(0));
}

void SampleTable::insert(core::JobId job, core::SampleNumber number, const core::JobSample& sample) {
  Query query(insert_);
  query.with(std::int64_t{job}).with(static_cast<std::int64_t>(number)).with(count(sample.time.time_since_epoch()));
  query.with(std::int64_t{sample.attempt}).with(size(sample.memory_current)).with(size(sample.memory_anon_shmem));
  query.with(size(sample.swap_current)).with(count(sample.cpu_time));
  query.with(some(sample.memory_stalls)).with(full(sample.memory_stalls));
  query.with(some(sample.io_stalls)).with(full(sample.io_stalls)).run();
}

void SampleTable::thin_out(core::JobId job, core::SampleNumber newest) {
  for (const auto& stretch : core::stretches(newest)) {
    if (stretch.step == 1) continue;
    Query query(thin_out_);
    query.with(std::int64_t{job}).with(static_cast<std::int64_t>(stretch.first));
    query.with(static_cast<std::int64_t>(stretch.last)).with(static_cast<std::int64_t>(stretch.step)).run();
  }
}

std::vector<core::NumberedSample> SampleTable::list(core::JobId job) {
  Query query(list_);
  query.with(std::int64_t{job});
  std::vector<core::NumberedSample> samples;
  while (query.next()) samples.push_back(read(query));
  return samples;
}

void SampleTable::erase_of_ended(std::int64_t keep, std::int64_t most) {
  Query(erase_of_ended_).with(most).with(keep).run();
}

void SampleTable::erase_of_job(core::JobId job) { Query(erase_of_job_).with(std::int64_t{job}).run(); }

}  // namespace mljobd::store
