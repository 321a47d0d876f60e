// The log of a job on stdout while it runs, until it has ended and everything is there.
#pragma once

#include <cstdint>
#include <optional>

#include "client/job_row.hpp"
#include "client/manager_client.hpp"
#include "client/waiting.hpp"

namespace mljobd::client {

struct FollowRequest {
  core::JobId id = 0;
  std::optional<std::uint32_t> attempt{};  // empty: the present one
  std::optional<std::uint64_t> lines{};    // only the last so many, to begin with
};

// "[jobctl: 3.2G of output dropped here: the log is bounded]" on stderr.
void announce_hole(core::Bytes dropped);

// The watch must have been started. Gives the job's row at its end; a job whose output goes to files of its own is
// waited for all the same.
[[nodiscard]] Outcome<JobRow> follow_log(ManagerClient& client, JobWatch& watch, const FollowRequest& request);

}  // namespace mljobd::client
