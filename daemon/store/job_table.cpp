#include "store/job_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "store/record.hpp"

namespace mljobd::store {
namespace {

constexpr const char* insert_or_update = R"sql(
INSERT INTO jobs (id, owner, name, class, state, result, submitted, ended, attempt, record, key)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''))
ON CONFLICT (id) DO UPDATE SET
  owner = excluded.owner, name = excluded.name, class = excluded.class, state = excluded.state,
  result = excluded.result, submitted = excluded.submitted, attempt = excluded.attempt, record = excluded.record,
  ended = CASE WHEN jobs.ended IS NULL OR excluded.ended IS NULL THEN excluded.ended
               ELSE max(jobs.ended, excluded.ended) END
)sql";

// A change of state compares the specification instead of writing it again: it can be a hundred times the record.
constexpr const char* insert_or_update_specification = R"sql(
INSERT INTO specifications (job, specification, environment) VALUES (?, ?, ?)
ON CONFLICT (job) DO UPDATE SET specification = excluded.specification, environment = excluded.environment
WHERE specification IS NOT excluded.specification OR environment IS NOT excluded.environment
)sql";

// A few, because what a program needs changes; the largest of them, because it is to fit.
constexpr const char* memory_peak_of_last = R"sql(
SELECT max(json_extract(record, '$.attempt.usage.memory_peak')) FROM
  (SELECT record FROM jobs WHERE owner = ? AND name = ? AND result = 'done' ORDER BY id DESC LIMIT 5)
)sql";

enum Column { id_column, owner_column, submitted_column, record_column, specification_column, environment_column };

std::string select_jobs(bool with_environment) {
  return std::string("SELECT jobs.id, owner, submitted, record, specification, ") +
         (with_environment ? "environment" : "'[]'") +
         " FROM jobs LEFT JOIN specifications ON specifications.job = jobs.id ";
}

std::int64_t count(core::RealTime time) { return time.time_since_epoch().count(); }

template <class Values>
std::string json_list(const Values& values) {
  return nlohmann::json(values).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The conditions of a filter as SQL, and the values for its parameters.
struct Conditions {
  std::string sql = "WHERE TRUE";
  std::vector<std::variant<std::int64_t, std::string>> values{};

  template <class... Values>
  void add(const char* condition, Values... parameters) {
    sql += std::string(" AND ") + condition;
    (values.emplace_back(std::move(parameters)), ...);
  }
};

Conditions conditions_of(const JobFilter& filter) {
  Conditions conditions;
  if (!filter.ids.empty()) conditions.add("jobs.id IN (SELECT value FROM json_each(?))", json_list(filter.ids));
  if (!filter.states.empty()) {
    const auto words = json_list(filter.states);
    const bool all_finished = std::find(filter.states.begin(), filter.states.end(), "finished") != filter.states.end();
    if (all_finished) {
      conditions.add("(ended IS NOT NULL OR state IN (SELECT value FROM json_each(?)))", words);
    } else {
      conditions.add(
          "((ended IS NULL AND state IN (SELECT value FROM json_each(?))) OR"
          " (ended IS NOT NULL AND result IN (SELECT value FROM json_each(?))))",
          words, words);
    }
  }
  if (filter.owner) conditions.add("owner = ?", std::int64_t{*filter.owner});
  if (!filter.class_name.empty()) conditions.add("class = ?", filter.class_name);
  if (!filter.name.empty()) conditions.add("name = ?", filter.name);
  if (filter.since)
    conditions.add("jobs.id IN (SELECT id FROM jobs WHERE submitted >= ? UNION SELECT id FROM jobs WHERE ended >= ?)",
                   count(*filter.since), count(*filter.since));
  return conditions;
}

constexpr const char* newest_first = " ORDER BY jobs.id DESC LIMIT ?";

void bind(Query& query, const Conditions& conditions, const JobFilter& filter) {
  for (const auto& value : conditions.values) {
    std::visit([&](const auto& content) { query.with(content); }, value);
  }
  query.with(std::min(filter.limit, Store::list_limit));
}

}  // namespace

JobTable::JobTable(SQLite::Database& database, ProblemHandler on_problem)
    : database_(database),
      on_problem_(std::move(on_problem)),
      save_(database, insert_or_update),
      save_specification_(database, insert_or_update_specification),
      load_(database, select_jobs(true) + "WHERE jobs.id = ?"),
      load_unfinished_(database, select_jobs(true) + "WHERE ended IS NULL ORDER BY jobs.id"),
      highest_id_(database, "SELECT coalesce(max(id), 0) FROM jobs"),
      finished_count_(database, "SELECT count(*) FROM jobs WHERE ended IS NOT NULL"),
      expired_count_(database, "SELECT count(*) FROM (SELECT 1 FROM jobs WHERE ended < ? LIMIT ?)"),
      oldest_(database, "SELECT id, attempt FROM jobs WHERE ended IS NOT NULL ORDER BY ended, id LIMIT ?"),
      key_(database, "SELECT id FROM jobs WHERE owner = ? AND key = ? ORDER BY id DESC LIMIT 1"),
      peak_(database, memory_peak_of_last),
      erase_(database, "DELETE FROM jobs WHERE id = ?"),
      erase_specification_(database, "DELETE FROM specifications WHERE job = ?") {}

void JobTable::save(const core::Job& job, core::RealTime finished_at) {
  const std::string state(core::to_word(job.state));
  const std::string record = encode_record(job);
  std::optional<std::int64_t> ended;
  std::string result;
  if (const auto* finished = std::get_if<core::Finished>(&job.state)) {
    ended = count(std::max({job.submitted, job.attempt.ended.value_or(job.submitted), finished_at}));
    result = core::to_word(finished->result);
  }
  Query query(save_);
  query.with(job.id).with(job.owner).with(job.spec.name).with(job.spec.class_name).with(state).with(result);
  query.with(count(job.submitted)).with(ended).with(job.attempt.number).with(record).with(job.spec.key).run();
  save_specification(job.id, job.spec);
}

void JobTable::save_specification(core::JobId id, const core::JobSpec& specification) {
  const std::string text = encode_specification(specification);
  const std::string environment = encode_environment(specification);
  Query(save_specification_).with(id).with(text).with(environment).run();
}

core::Expected<core::Job> JobTable::read(const Query& row) const {
  if (row.is_null(specification_column)) {
    return core::failure(core::ErrorCode::storage, "its specification is missing");
  }
  core::Job job;
  job.id = static_cast<core::JobId>(row.number(id_column));
  job.owner = static_cast<core::UserId>(row.number(owner_column));
  job.submitted = core::RealTime(core::Microseconds(row.number(submitted_column)));
  return decode_record(row.text(record_column), job)
      .and_then([&] { return decode_specification(row.text(specification_column), job.spec); })
      .and_then([&] { return decode_environment(row.text(environment_column), job.spec); })
      .map([&] { return std::move(job); });
}

std::vector<core::Job> JobTable::read_all(Query& query) const {
  std::vector<core::Job> jobs;
  while (query.next()) {
    auto job = read(query);
    if (job) {
      jobs.push_back(*std::move(job));
    } else {
      on_problem_(static_cast<core::JobId>(query.number(id_column)), job.error().message);
    }
  }
  return jobs;
}

core::Expected<std::optional<core::Job>> JobTable::load(core::JobId id) {
  Query query(load_);
  query.with(id);
  if (!query.next()) return std::nullopt;
  auto job = read(query);
  if (job) return *std::move(job);
  on_problem_(id, job.error().message);
  return tl::unexpected(std::move(job).error());
}

std::vector<core::Job> JobTable::load_unfinished() {
  Query query(load_unfinished_);
  return read_all(query);
}

std::vector<core::Job> JobTable::list(const JobFilter& filter) {
  const auto conditions = conditions_of(filter);
  SQLite::Statement statement(database_, select_jobs(false) + conditions.sql + newest_first);
  Query query(statement);
  bind(query, conditions, filter);
  return read_all(query);
}

std::vector<core::JobId> JobTable::list_ids(const JobFilter& filter) {
  const auto conditions = conditions_of(filter);
  SQLite::Statement statement(database_, "SELECT jobs.id FROM jobs " + conditions.sql + newest_first);
  Query query(statement);
  bind(query, conditions, filter);
  std::vector<core::JobId> ids;
  while (query.next()) ids.push_back(static_cast<core::JobId>(query.number(0)));
  return ids;
}

core::JobId JobTable::highest_id() {
  Query query(highest_id_);
  query.next();
  return static_cast<core::JobId>(query.number(0));
}

std::uint64_t JobTable::finished_count() {
  Query query(finished_count_);
  query.next();
  return static_cast<std::uint64_t>(query.number(0));
}

std::vector<PrunedJob> JobTable::prunable(core::RealTime older_than, std::uint32_t keep_jobs, std::uint32_t limit) {
  const auto finished = static_cast<std::int64_t>(finished_count());
  const auto excess = std::max<std::int64_t>(finished - keep_jobs, 0);
  Query expired(expired_count_);
  expired.with(count(older_than)).with(limit).next();
  // Both sets begin at the oldest, so the larger one contains the other.
  const auto number = std::min<std::int64_t>(std::max(excess, expired.number(0)), limit);
  std::vector<PrunedJob> jobs;
  Query oldest(oldest_);
  oldest.with(number);
  while (oldest.next()) {
    jobs.push_back(
        {.id = static_cast<core::JobId>(oldest.number(0)), .attempts = static_cast<std::uint32_t>(oldest.number(1))});
  }
  return jobs;
}

std::optional<core::JobId> JobTable::find_key(core::UserId owner, const std::string& key) {
  Query query(key_);
  query.with(owner).with(key);
  return query.next() ? std::optional(static_cast<core::JobId>(query.number(0))) : std::nullopt;
}

std::optional<core::Bytes> JobTable::memory_peak(core::UserId owner, const std::string& name) {
  Query query(peak_);
  query.with(owner).with(name);
  if (!query.next() || query.is_null(0)) return std::nullopt;
  return static_cast<core::Bytes>(query.number(0));
}

void JobTable::erase(core::JobId id) {
  Query(erase_).with(id).run();
  Query(erase_specification_).with(id).run();
}

}  // namespace mljobd::store
