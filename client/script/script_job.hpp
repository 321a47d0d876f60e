// From a script and what was asked for to the specification of its job.
#pragma once

#include <string>
#include <vector>

#include "client/arguments.hpp"
#include "client/failure.hpp"
#include "client/script/script_file.hpp"
#include "client/script/script_request.hpp"
#include "client/submission.hpp"

namespace mljobd::client {

// As sbatch does: directives first (already in the request), then the caller's own options.
struct ScriptJob {
  Script script{};
  std::vector<std::string> arguments{};
  ScriptRequest request{};
};

// The script's directives as a request. Errors: usage, naming file and line.
[[nodiscard]] Outcome<ScriptRequest> read_request(const Script& script, const ScriptContext& context);

// Completes the specification, says what was left out, keeps the copy and submits. Gives the code to exit with.
[[nodiscard]] int submit_script(const Invocation& invocation, ScriptJob job, const Surroundings& surroundings,
                                AfterSubmit after);

}  // namespace mljobd::client
