// What a job waits for, as --after and --dependency take it.
#pragma once

#include <string_view>

#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::client {

struct DependencyList {
  core::StringPairs jobs{};  // kind ("ok", "any", "notok", "start") and the job's id or name
  bool singleton = false;    // waits for every earlier job of this name and user

  bool operator==(const DependencyList&) const = default;
};

// "KIND:JOB[:JOB…]" with commas between, all of which have to come true; kinds are those above and Slurm's names for
// them (afterok, afterany, afternotok, after). A JOB alone has the kind that `bare_kind` says: "ok" for jobctl, "any"
// for Slurm.
// Errors: invalid_spec, also for what Slurm has and jobs here cannot wait for.
[[nodiscard]] core::Expected<DependencyList> parse_dependencies(std::string_view text, std::string_view bare_kind);

}  // namespace mljobd::client
