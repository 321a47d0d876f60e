#include <optional>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "client/environment.hpp"
#include "client/following.hpp"
#include "client/output.hpp"
#include "client/spec_options.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

struct SubmitOptions {
  SpecOptions spec{};
  std::vector<std::string> exports{};
  std::vector<std::string> command{};
  bool wait = false;
  bool follow = false;
  bool parsable = false;
  bool test_only = false;
};

void add_options(VerbParser& parser, SubmitOptions& options) {
  auto& app = parser.app();
  app.add_flag("--wait", options.wait, "wait for its end and exit as it did");
  app.add_flag("--follow", options.follow, "the same, with its output on this terminal");
  app.add_flag("-q,--parsable", options.parsable, "print the bare job id");
  app.add_flag("--test-only", options.test_only, "check it and plan it, but queue nothing");
  app.add_option("--export", options.exports,
                 "environment that goes along: ALL (the default), NONE, NAME, NAME=VALUE; commas between")
      ->type_name("LIST")
      ->allow_extra_args(false);
  add_spec_options(app, SpecUse::submit, options.spec);
  parser.take_command(options.command);
}

Outcome<core::ValueMap> build_spec(const SubmitOptions& options) {
  if (options.command.empty()) return usage_failure("what shall it run? e.g. jobctl submit -- python3 train.py");
  const auto around = surroundings();
  auto spec = spec_from(SpecUse::submit, options.spec, around);
  if (!spec) return spec;
  if (around.workdir.empty() && !spec->contains("workdir")) {
    return usage_failure("the present directory is gone; say --workdir DIR");
  }
  spec->emplace("workdir", core::Value(around.workdir));
  for (const auto& word : options.command) {
    if (!is_utf8(word)) return usage_failure("the command has a word that is not UTF-8, which D-Bus cannot carry");
  }
  spec->emplace("command", core::Value(options.command));
  return spec;
}

// The daemon's sentence says which bound; what to leave out, only this side knows.
Failure with_largest_variable(Failure failure, const std::vector<std::string>& environment) {
  if (failure.message.find("environment") != std::string::npos && !environment.empty()) {
    failure.message += "; the largest variable is " + largest_variable(environment) + ", see --export";
  }
  return failure;
}

std::string detach_message(core::JobId id) {
  const std::string number = std::to_string(id);
  return "job " + number + " goes on; `jobctl cancel " + number + "` stops it";
}

int wait_for_end(ManagerClient& client, JobWatch& watch, core::JobId id, const SubmitOptions& options) {
  detach_on_interrupt(detach_message(id));
  if (options.follow) {
    const auto row = follow_log(client, watch, {.id = id});
    return row ? exit_code_of(*row) : report(row.error());
  }
  WaitTracker tracker({id}, WaitFor::done, WaitMode::all);
  if (auto waited = watch.wait(tracker, JobWatch::FirstLook::spared, std::nullopt); !waited) {
    return report(waited.error());
  }
  return tracker.exit_code();
}

int submit(Invocation& invocation, const SubmitOptions& options) {
  auto spec = build_spec(options);
  if (!spec) return report(spec.error());
  const auto environment = select_environment(options.exports, own_environment());
  if (!environment) return report(environment.error());
  for (const auto& name : environment->left_out) warn("the variable " + name + " is not UTF-8 and stays behind");
  if (!environment->variables.empty()) spec->emplace("environment", core::Value(environment->variables));

  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const bool waits = (options.wait || options.follow) && !options.test_only;
  JobWatch watch(**client);
  if (waits) {
    if (auto started = watch.start(); !started) return report(started.error());
  }
  core::ValueMap call_options;
  if (options.test_only) call_options.emplace("dry_run", core::Value(true));
  const auto id = (*client)->submit(*spec, call_options);
  if (!id) return report(with_largest_variable(id.error(), environment->variables));
  if (options.test_only) return print("It would be accepted; nothing was queued.\n");
  const std::string line = (options.parsable ? "" : "Submitted job ") + std::to_string(*id) + "\n";
  // With --follow stdout belongs to the job's output.
  const int printed = options.follow ? (write_all(STDERR_FILENO, line), exit_code::success) : print(line);
  return waits ? wait_for_end(**client, watch, *id, options) : printed;
}

}  // namespace

int run_submit(Invocation& invocation) {
  SubmitOptions options;
  VerbParser parser(invocation, "Queue a command as a job: it starts when its turn has come and its memory is free.",
                    "jobctl submit --class train --mem 12G --time 8h -- python3 train.py --epochs 90");
  add_options(parser, options);
  if (const auto code = parser.parse()) return *code;
  return submit(invocation, options);
}

}  // namespace mljobd::client
