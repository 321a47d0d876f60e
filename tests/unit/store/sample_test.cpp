// What jobs used while they ran, as the store keeps it.
#include <algorithm>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <catch2/catch.hpp>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/sample_ring.hpp"
#include "store/store.hpp"
#include "store_support.hpp"

namespace {
int syncs = 0;
}  // namespace

// In the place of the C library's, for SQLite as well: counted, and done.
extern "C" int fsync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fsync, fd));
}
extern "C" int fdatasync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

namespace mljobd::store {
namespace {

core::JobSample sample(std::int64_t second) {
  return {.time = at(second),
          .attempt = 1,
          .memory_current = core::Bytes{3} << 40,
          .memory_anon_shmem = 2,
          .swap_current = 1,
          .cpu_time = std::chrono::seconds(second),
          .memory_stalls = core::StallTotals{.some = core::Microseconds(5), .full = core::Microseconds(4)}};
}

std::vector<core::JobSample> samples_from(std::int64_t first, std::int64_t count) {
  std::vector<core::JobSample> samples;
  for (std::int64_t second = first; second < first + count; ++second) samples.push_back(sample(second));
  return samples;
}

std::vector<core::JobSample> stored(const Store& store, core::JobId job) {
  std::vector<core::JobSample> samples;
  for (const auto& row : value_of(store.samples(job))) samples.push_back(row.sample);
  return samples;
}

TEST_CASE("samples come back as they were, numbered on across batches and restarts") {
  const TemporaryDirectory directory;
  {
    auto store = value_of(Store::open(directory.database()));
    require_success(store.save({.jobs = {job_with(1), job_with(2)}}));
    require_success(store.save_samples({{1, samples_from(0, 2)}, {2, samples_from(50, 1)}}));
    // With the end of the job, in one transaction.
    require_success(store.save({.jobs = {finished_job(1, at(9))}, .samples = {{1, samples_from(2, 1)}}}));
  }
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save_samples({{1, samples_from(3, 1)}}));
  CHECK(stored(store, 1) == samples_from(0, 4));
  CHECK(value_of(store.samples(1)).back().number == 3);
  CHECK(stored(store, 2) == samples_from(50, 1));
  CHECK(stored(store, 3).empty());
}

TEST_CASE("a job without end has no more rows than the bound, whatever the batches") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.jobs = {job_with(1)}}));
  for (std::int64_t first = 0; first < 6000; first += 60) {
    require_success(store.save_samples({{1, samples_from(first, 60)}}));
  }
  const auto rows = value_of(store.samples(1));
  CHECK(rows.size() <= core::maximum_samples);
  CHECK(rows.size() > core::maximum_samples / 2);
  CHECK(rows.front().sample == sample(0));
  CHECK(rows.back().sample == sample(5999));
  const auto past = core::stretches(5999);
  CHECK(std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return core::is_kept(row.number, past); }));
}

TEST_CASE("samples of a job that is not on record are dropped, and cost the others nothing") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.jobs = {job_with(2)}}));
  require_success(store.save_samples({{1, samples_from(0, 3)}, {2, samples_from(0, 3)}}));
  CHECK(stored(store, 1).empty());
  CHECK(stored(store, 2) == samples_from(0, 3));
}

TEST_CASE("samples go with the history of their job") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.jobs = {finished_job(1, at(5)), finished_job(2, at(50))},
                              .samples = {{1, samples_from(0, 3)}, {2, samples_from(0, 3)}}}));
  CHECK(value_of(store.prune(at(10), 10)).size() == 1);
  CHECK(stored(store, 1).empty());
  CHECK(stored(store, 2).size() == 3);
}

TEST_CASE("a database of the third schema takes samples from then on") {
  const TemporaryDirectory directory;
  {
    auto store = value_of(Store::open(directory.database()));
    require_success(store.save({.jobs = {job_with(2)}, .texts = {{"pressure", "{}"}}}));
  }
  {
    SQLite::Database database(directory.database(), SQLite::OPEN_READWRITE);
    database.exec("DROP TABLE samples; PRAGMA user_version = 3");
    // One that is too large to be read whole at every start is looked at in other ways.
    if (GENERATE(false, true)) database.exec("INSERT INTO texts VALUES ('large', hex(zeroblob(9000000)))");
  }
  auto store = value_of(Store::open(directory.database()));
  CHECK_FALSE(store.set_aside().has_value());
  CHECK(value_of(store.load(2)) == job_with(2));
  CHECK(value_of(store.load_text("pressure")) == "{}");
  require_success(store.save_samples({{2, samples_from(0, 1)}}));
  CHECK(stored(store, 2) == samples_from(0, 1));
}

TEST_CASE("samples wait for the disk no more, and what is saved after them does") {
  const TemporaryDirectory directory;
  auto store = value_of(Store::open(directory.database()));
  require_success(store.save({.jobs = {job_with(1)}}));
  const auto syncs_of = [](const auto& write) {
    const int before = syncs;
    write();
    return syncs - before;
  };
  CHECK(syncs_of([&] { require_success(store.save_samples({{1, samples_from(0, 6)}})); }) == 0);
  CHECK(syncs_of([&] { require_success(store.save({.jobs = {job_with(2)}})); }) > 0);
  // One that fails leaves no trace either.
  SQLite::Database other(directory.database(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  CHECK_FALSE(store.save_samples({{1, samples_from(6, 1)}}));
  other.exec("ROLLBACK");
  CHECK(syncs_of([&] { require_success(store.save({.jobs = {job_with(3)}})); }) > 0);
}

}  // namespace
}  // namespace mljobd::store
