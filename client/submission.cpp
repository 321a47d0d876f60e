#include "client/submission.hpp"

#include <algorithm>
#include <optional>

#include <unistd.h>

#include "client/environment.hpp"
#include "client/following.hpp"
#include "client/output.hpp"
#include "client/render_text.hpp"
#include "client/selection.hpp"
#include "client/spec_options.hpp"
#include "client/values.hpp"
#include "client/waiting.hpp"

namespace mljobd::client {
namespace {

// The daemon's sentence says which bound; what to leave out, only this side knows.
Failure with_largest_variable(Failure failure, const core::ValueMap& spec) {
  const auto environment = texts_or_empty(spec, "environment");
  if (failure.message.find("environment") != std::string::npos && !environment.empty()) {
    failure.message += "; the largest variable is " + largest_variable(environment) + ", see --export";
  }
  return failure;
}

std::string detach_message(const std::vector<core::JobId>& ids) {
  std::string numbers;
  for (const auto id : ids) numbers.append(numbers.empty() ? "" : " ").append(std::to_string(id));
  return std::string(ids.size() == 1 ? "job " : "jobs ") + numbers + (ids.size() == 1 ? " goes" : " go") +
         " on; `jobctl cancel " + numbers + "` stops " + (ids.size() == 1 ? "it" : "them");
}

bool any_has(const Rows& specs, std::string_view key) {
  return std::any_of(specs.begin(), specs.end(), [&](const core::ValueMap& spec) { return spec.contains(key); });
}

// The daemon answers with the first job of an array, and for a key that was used before with the job that has it, which
// may be one of an array. Any other submission is one job, and asking costs as much as the job of a quick command.
Outcome<WaitTracker> tracker_for(ManagerClient& client, const std::vector<core::JobId>& ids, const Rows& specs) {
  auto all = any_has(specs, "array") || any_has(specs, "key") ? with_whole_arrays(client, ids)
                                                              : Outcome<std::vector<core::JobId>>(ids);
  return all.map([](const std::vector<core::JobId>& jobs) { return WaitTracker(jobs, WaitFor::done, WaitMode::all); });
}

int wait_for_end(ManagerClient& client, JobWatch& watch, const std::vector<core::JobId>& ids, const Rows& specs,
                 const AfterSubmit& after) {
  detach_on_interrupt(detach_message(ids));
  if (after.follow) {
    const auto row = follow_log(client, watch, {.id = ids.front()});
    return row ? exit_code_of(*row) : report(row.error());
  }
  auto tracker = tracker_for(client, ids, specs);
  if (!tracker) return report(tracker.error());
  const auto first_look = any_has(specs, "key") ? JobWatch::FirstLook::needed : JobWatch::FirstLook::spared;
  if (auto waited = watch.wait(*tracker, first_look, std::nullopt); !waited) return report(waited.error());
  return tracker->exit_code();
}

// "@" is the last one that I submitted, which only a list of my jobs tells.
Outcome<void> resolve_last_job(ManagerClient& client, core::ValueMap& spec) {
  const auto found = spec.find("after");
  if (found == spec.end()) return {};
  for (auto& [kind, job] : std::get<core::StringPairs>(found->second.storage)) {
    if (job != "@") continue;
    const auto id = last_submission(client);
    if (!id) return tl::unexpected(id.error());
    job = std::to_string(*id);
  }
  return {};
}

std::string lines_for(const std::vector<core::JobId>& ids, const Rows& specs, const AfterSubmit& after) {
  std::string lines;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!after.parsable) lines += after.sentence;
    lines += std::to_string(ids[i]);
    if (!after.parsable && specs.size() > 1) lines += " (" + text_or_empty(specs[i], "name") + ")";
    lines += '\n';
  }
  return lines;
}

int finish(ManagerClient& client, JobWatch& watch, const std::vector<core::JobId>& ids, const Rows& specs,
           const AfterSubmit& after) {
  const std::string lines = lines_for(ids, specs, after);
  // With --follow stdout belongs to the job's output.
  const int printed = after.follow ? (write_all(STDERR_FILENO, lines), exit_code::success) : print(lines);
  return after.wait || after.follow ? wait_for_end(client, watch, ids, specs, after) : printed;
}

}  // namespace

Outcome<void> add_environment(const std::vector<std::string>& exports, core::ValueMap& spec) {
  const auto environment = select_environment(exports, own_environment());
  if (!environment) return tl::unexpected(environment.error());
  for (const auto& name : environment->left_out) warn("the variable " + name + " is not UTF-8 and stays behind");
  if (!environment->variables.empty()) spec.insert_or_assign("environment", core::Value(environment->variables));
  return {};
}

std::string preview_text(const Rows& plan) {
  std::string text =
      "It would be accepted; nothing was queued. Submitted now, with every job as long as its time limit:\n";
  for (const auto& job : plan) {
    const auto start = value_or<std::uint64_t>(job, "start", 0);
    const std::string reason = text_or_empty(job, "reason");
    text += "  " + text_or_empty(job, "name");
    if (job.contains("array_index")) text += " " + std::to_string(value_or<std::uint32_t>(job, "array_index", 0));
    if (reason.empty()) {
      text += ": starts at once\n";
    } else {
      text += (start == 0 ? ": nobody can tell when it starts: " : ": starts by " + format_time(start) + ": ") +
              reason + "\n";
    }
  }
  return text;
}

int submit_job(ManagerClient& client, core::ValueMap spec, const AfterSubmit& after) {
  if (after.follow && spec.contains("array")) {
    return report({exit_code::usage,
                   "--follow shows the output of one job, and an array has several; use --wait and `jobctl logs`"});
  }
  if (auto joined = join_checkpoint(spec); !joined) return report(joined.error());
  if (auto resolved = resolve_last_job(client, spec); !resolved) return report(resolved.error());
  if (after.test_only) return submit_jobs(client, {std::move(spec)}, after);
  JobWatch watch(client);
  if (after.wait || after.follow) {
    if (auto started = watch.start(); !started) return report(started.error());
  }
  const auto id = client.submit(spec, {});
  if (!id) return report(with_largest_variable(id.error(), spec));
  return finish(client, watch, {*id}, {spec}, after);
}

int submit_jobs(ManagerClient& client, Rows specs, const AfterSubmit& after) {
  for (auto& spec : specs) {
    if (auto joined = join_checkpoint(spec); !joined) {
      return report({joined.error().exit_code, text_or_empty(spec, "name") + ": " + joined.error().message});
    }
  }
  if (after.test_only) {
    const auto plan = client.preview(specs);
    return plan ? print(preview_text(*plan)) : report(with_largest_variable(plan.error(), specs.front()));
  }
  JobWatch watch(client);
  if (after.wait) {
    if (auto started = watch.start(); !started) return report(started.error());
  }
  const auto ids = client.submit_pipeline(specs, {});
  if (!ids) return report(with_largest_variable(ids.error(), specs.front()));
  return finish(client, watch, *ids, specs, after);
}

}  // namespace mljobd::client
