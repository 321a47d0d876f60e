// Jobs as the dictionaries and words of the D-Bus contract (dbus/*.xml).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/job.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

// Only the keys that were asked for (or that a class's default filled in), and always oom_policy and priority.
[[nodiscard]] ValueMap limits_view(const JobSpec& spec);
// Only the keys that are known; empty for a job that ended well.
[[nodiscard]] ValueMap cause_view(const Cause& cause);
[[nodiscard]] ValueMap usage_view(const Usage& usage);
// The whole specification, command and environment included: for the owner and root only. It is a valid Submit spec.
[[nodiscard]] ValueMap spec_view(const JobSpec& spec);

// What a row of ListJobs is made from. The usage is that of this moment, the warnings are sentences.
struct RowSource {
  const Job& job;
  Now now{};
  Usage usage{};
  std::vector<std::string> warnings{};
  ValueMap forecast{};  // empty: there is none
};

// The keys that a caller wants to see of a job.
struct RowField;
using RowFields = std::vector<const RowField*>;

// Of no key: all. Errors: invalid_spec, naming the keys there are.
[[nodiscard]] Expected<RowFields> row_fields(const std::vector<std::string>& keys);
[[nodiscard]] bool contains(const RowFields& fields, std::string_view key);
// A row of ListJobs.
[[nodiscard]] ValueMap job_row(const RowSource& source, const RowFields& fields);

// "Resources:memory (needs 12.0G, 3.0G free)", "Held", "oom own-limit"; empty while it runs.
[[nodiscard]] std::string reason_text(const JobState& state);

// How long the present or last attempt has run, without the time it was frozen; 0 before the first and while a
// requeued job waits.
[[nodiscard]] Microseconds run_time(const Job& job, Now now);

}  // namespace mljobd::core
