#include <optional>

#include <CLI/CLI.hpp>

#include "client/environment.hpp"
#include "client/output.hpp"
#include "client/pipeline/pipeline_job.hpp"
#include "client/script/script_job.hpp"
#include "client/spec_options.hpp"
#include "client/submission.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

struct SubmitOptions {
  SpecOptions spec{};
  std::vector<std::string> exports{};
  std::vector<std::string> command{};
  CommandForm form = CommandForm::bare;
  AfterSubmit after{};
};

void add_options(VerbParser& parser, SubmitOptions& options) {
  auto& app = parser.app();
  app.add_flag("--wait", options.after.wait, "wait for its end and exit as it did");
  app.add_flag("--follow", options.after.follow, "the same, with its output on this terminal");
  app.add_flag("-q,--parsable", options.after.parsable, "print the bare job id");
  app.add_flag("--test-only", options.after.test_only, "check it and plan it, but queue nothing");
  app.add_option("--export", options.exports,
                 "environment that goes along: ALL (the default), NONE, NAME, NAME=VALUE; commas between")
      ->type_name("LIST")
      ->allow_extra_args(false);
  add_spec_options(app, SpecUse::submit, options.spec);
  parser.take_command(options.command);
}

Outcome<core::ValueMap> build_spec(const SubmitOptions& options, const Surroundings& around) {
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

int submit_command(const Invocation& invocation, const SubmitOptions& options, const Surroundings& around) {
  auto spec = build_spec(options, around);
  if (!spec) return report(spec.error());
  if (auto added = add_environment(options.exports, *spec); !added) return report(added.error());
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  return submit_job(**client, std::move(*spec), options.after);
}

int submit_as_script(const Invocation& invocation, const SubmitOptions& options, Script script,
                     const Surroundings& around) {
  const auto environment = own_environment();
  auto request = read_request(script, {.surroundings = around, .environment = environment});
  if (!request) return report(request.error());
  auto typed = spec_from(SpecUse::submit, options.spec, around);
  if (!typed) return report(typed.error());
  overlay(std::move(*typed), *request);
  if (!options.exports.empty()) request->exports = options.exports;
  AfterSubmit after = options.after;
  after.wait = after.wait || request->wait;
  after.parsable = after.parsable || request->parsable;
  after.test_only = after.test_only || request->test_only;
  return submit_script(invocation,
                       {.script = std::move(script),
                        .arguments = {options.command.begin() + 1, options.command.end()},
                        .request = std::move(*request)},
                       around, after);
}

bool names_pipeline(const SubmitOptions& options) {
  return options.form == CommandForm::bare && options.command.size() == 1 && options.command.front().ends_with(".json");
}

int submit(const Invocation& invocation, const SubmitOptions& options) {
  if (options.command.empty()) {
    return report({exit_code::usage, "what shall it run? e.g. jobctl submit -- python3 train.py"});
  }
  const auto around = surroundings();
  if (names_pipeline(options)) {
    return submit_pipeline(invocation, options.command.front(), options.spec, options.exports, around, options.after);
  }
  auto script = find_script(options.command.front(), options.form);
  if (!script) return report(script.error());
  if (*script) return submit_as_script(invocation, options, std::move(**script), around);
  return submit_command(invocation, options, around);
}

}  // namespace

int run_submit(Invocation& invocation) {
  SubmitOptions options;
  VerbParser parser(invocation,
                    "Queue a command as a job: it starts when its turn has come and its memory is free. A script is "
                    "copied, and its #JOB and #SBATCH lines are read; NAME.json is a pipeline of jobs.",
                    "jobctl submit --class train --mem 12G --time 8h -- python3 train.py --epochs 90\n"
                    "  jobctl submit train.sh\n"
                    "  jobctl submit --test-only night.json");
  add_options(parser, options);
  if (const auto code = parser.parse()) return *code;
  options.form = parser.behind_dashes() ? CommandForm::behind_dashes : CommandForm::bare;
  return submit(invocation, options);
}

}  // namespace mljobd::client
