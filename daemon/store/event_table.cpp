#include "store/event_table.hpp"

#include <algorithm>
#include <string>

#include "store/query.hpp"

namespace mljobd::store {
namespace {

std::int64_t count(core::RealTime time) { return time.time_since_epoch().count(); }

EventRecord read(const Query& row) {
  return EventRecord{.time = core::RealTime(core::Microseconds(row.number(0))),
                     .job = static_cast<core::JobId>(row.number(1)),
                     .kind = row.text(2),
                     .old_state = row.text(3),
                     .new_state = row.text(4),
                     .reason = row.text(5),
                     .message = row.text(6),
                     .details = row.text(7)};
}

}  // namespace

EventTable::EventTable(SQLite::Database& database)
    : database_(database),
      append_(database,
              "INSERT INTO events (time, job, kind, old_state, new_state, reason, message, details) VALUES (?, ?, ?, "
              "?, ?, ?, ?, ?)"),
      erase_of_job_(database, "DELETE FROM events WHERE job = ?"),
      erase_of_daemon_(database,
                       "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE job = 0 AND time < ? LIMIT ?)") {}

void EventTable::append(const EventRecord& event) {
  Query query(append_);
  query.with(count(event.time)).with(event.job).with(event.kind).with(event.old_state).with(event.new_state);
  query.with(event.reason).with(event.message).with(event.details).run();
}

std::vector<EventRecord> EventTable::list(const EventFilter& filter) {
  std::string sql = "SELECT time, job, kind, old_state, new_state, reason, message, details FROM events WHERE TRUE";
  if (filter.job != 0) sql += " AND job = ?";
  if (filter.since) sql += " AND time >= ?";
  SQLite::Statement statement(database_, sql + " ORDER BY id DESC LIMIT ?");
  Query query(statement);
  if (filter.job != 0) query.with(filter.job);
  if (filter.since) query.with(count(*filter.since));
  query.with(std::min(filter.limit, Store::events_limit));
  std::vector<EventRecord> events;
  while (query.next()) events.push_back(read(query));
  std::reverse(events.begin(), events.end());
  return events;
}

void EventTable::erase_of_job(core::JobId job) { Query(erase_of_job_).with(job).run(); }

void EventTable::erase_of_daemon(core::RealTime older_than, std::uint32_t limit) {
  Query(erase_of_daemon_).with(count(older_than)).with(limit).run();
}

}  // namespace mljobd::store
