#include "client/following.hpp"

#include <string>

#include <unistd.h>

#include "client/log_reader.hpp"
#include "client/output.hpp"
#include "client/selection.hpp"
#include "core/format.hpp"

namespace mljobd::client {
namespace {

constexpr std::chrono::milliseconds poll_interval(100);

Outcome<JobRow> row_of(ManagerClient& client, core::JobId id) {
  return rows_of(client, {id}).map([](const Rows& rows) { return job_row_from(rows.front()); });
}

Outcome<LogReader> open_reader(const UniqueFd& log, std::optional<std::uint64_t> lines) {
  off_t start = 0;
  if (lines) {
    const auto found = tail_start(log.get(), *lines);
    if (!found) return tl::unexpected(found.error());
    start = *found;
  }
  return LogReader(log.get(), start, announce_hole);
}

Outcome<void> wait_for_start(JobWatch& watch, core::JobId id) {
  WaitTracker started({id}, WaitFor::running, WaitMode::all);
  // Most jobs start at once; only one that waits for its turn is worth a word.
  constexpr std::chrono::seconds patience(1);
  auto waited = watch.wait(started, JobWatch::FirstLook::needed, patience);
  if (waited || waited.error().exit_code != exit_code::timed_out) return waited;
  warn("job " + std::to_string(id) + " has not started yet; waiting for it");
  return watch.wait(started, JobWatch::FirstLook::needed, std::nullopt);
}

Outcome<void> copy_until_end(JobWatch& watch, WaitTracker& ended, const UniqueFd& log, const FollowRequest& request) {
  auto reader = open_reader(log, request.lines);
  if (!reader) return tl::unexpected(reader.error());
  watch.look_again();
  while (true) {
    // Ask first, copy then: what was written before the end is in the file by the time the end is known.
    if (auto stepped = watch.step(ended, poll_interval); !stepped) return tl::unexpected(stepped.error());
    if (auto copied = reader->copy_available(STDOUT_FILENO); !copied) return copied;
    if (ended.complete()) return {};
  }
}

}  // namespace

void announce_hole(core::Bytes dropped) {
  write_all(STDERR_FILENO,
            "[jobctl: " + core::format_bytes(dropped) + " of output dropped here: the log is bounded]\n");
}

Outcome<JobRow> follow_log(ManagerClient& client, JobWatch& watch, const FollowRequest& request) {
  if (auto started = wait_for_start(watch, request.id); !started) return tl::unexpected(started.error());
  WaitTracker ended({request.id}, WaitFor::done, WaitMode::all);
  const auto log = client.open_log(request.id, request.attempt);
  if (log) {
    if (auto copied = copy_until_end(watch, ended, *log, request); !copied) return tl::unexpected(copied.error());
  } else if (log.error().exit_code == exit_code::invalid_state) {
    warn(log.error().message);
    auto waited = watch.wait(ended, JobWatch::FirstLook::needed, std::nullopt);
    if (!waited) return tl::unexpected(waited.error());
  } else {
    return tl::unexpected(log.error());
  }
  return row_of(client, request.id);
}

}  // namespace mljobd::client
