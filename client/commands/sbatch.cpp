#include <algorithm>
#include <span>

#include <unistd.h>

#include "client/environment.hpp"
#include "client/output.hpp"
#include "client/script/script_job.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

constexpr std::string_view help =
    "Usage: jobctl sbatch [OPTIONS OF SBATCH] [SCRIPT [ARGUMENTS]]\n"
    "Queues a script as sbatch(1) would: options and #SBATCH lines have Slurm's names and\n"
    "units (--mem=4000 is megabytes, --time=90 is minutes). Without SCRIPT it is read from\n"
    "standard input; --wrap=COMMAND makes one. What means nothing on one machine is left\n"
    "out and said so; what would change the result is refused.\n"
    "\n"
    "Example:\n"
    "  jobctl sbatch --mem=8G -c 4 --array=0-15%4 train.sh --epochs 90\n"
    "`jobctl submit` does the same with jobctl's own options; the manual is jobctl(1).\n";

bool asks_for_help(std::span<const std::string> words) {
  const auto* const end = std::find_if(words.data(), words.data() + words.size(),
                                       [](const std::string& word) { return !word.starts_with('-') || word == "--"; });
  return std::any_of(words.data(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

Outcome<Script> wrapped(const std::string& command) {
  auto script = parse_script("wrap", "#!/bin/sh\n" + command + "\n");
  if (!script) return usage_failure("--wrap: " + script.error().reason);
  return std::move(**script);
}

Outcome<Script> script_of(const SlurmWords& words, const std::optional<std::string>& wrap) {
  if (wrap && !words.rest.empty()) return usage_failure("give either --wrap or a script, not both");
  if (wrap) return wrapped(*wrap);
  return words.rest.empty() ? read_script_from(STDIN_FILENO) : read_script(words.rest.front());
}

int submit_words(const Invocation& invocation, const SlurmWords& words) {
  const auto around = surroundings();
  const auto environment = own_environment();
  const ScriptContext context{.surroundings = around, .environment = environment};
  ScriptRequest typed;
  if (const auto checked = apply_slurm(words.uses, context, typed); !checked) {
    return report({exit_code::usage, checked.error().reason});
  }
  auto script = script_of(words, typed.wrap);
  if (!script) return report(script.error());
  auto request = read_request(*script, context);
  if (!request) return report(request.error());
  // They were checked above; once more behind the directives, because what comes later wins.
  if (const auto applied = apply_slurm(words.uses, context, *request); !applied) {
    return report({exit_code::usage, applied.error().reason});
  }
  const AfterSubmit after{.wait = request->wait,
                          .parsable = request->parsable,
                          .test_only = request->test_only,
                          .sentence = "Submitted batch job "};
  std::vector<std::string> arguments(words.rest.begin() + (words.rest.empty() ? 0 : 1), words.rest.end());
  return submit_script(
      invocation, {.script = std::move(*script), .arguments = std::move(arguments), .request = std::move(*request)},
      around, after);
}

}  // namespace

int run_sbatch(Invocation& invocation) {
  if (asks_for_help(invocation.arguments)) return print(help);
  if (!invocation.arguments.empty() && invocation.arguments.front() == "--user") {
    invocation.user = true;
    invocation.arguments.erase(invocation.arguments.begin());
  }
  const auto words = parse_slurm_words(invocation.arguments, 0);
  if (!words) return report({exit_code::usage, words.error().reason});
  return submit_words(invocation, *words);
}

}  // namespace mljobd::client
