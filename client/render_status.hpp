// The pages of `jobctl status`: one job, or the machine. Pure.
#pragma once

#include <string>
#include <vector>

#include "client/job_row.hpp"
#include "core/value.hpp"

namespace mljobd::client {

struct StatusPage {
  JobRow row{};
  core::ValueMap properties{};  // of the job's object; empty for one that is in the history only
  std::string log_tail{};       // the last lines; empty if there are none to see
};
[[nodiscard]] std::string render_status(const StatusPage& page, bool colour);

// properties: of the manager. resources: of GetResources, empty where the daemon is older than that. classes: of
// ListClasses.
[[nodiscard]] std::string render_machine(const core::ValueMap& properties, const core::ValueMap& resources,
                                         const std::vector<core::ValueMap>& classes, bool colour);

}  // namespace mljobd::client
