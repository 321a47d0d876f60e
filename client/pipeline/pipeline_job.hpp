// `jobctl submit night.json`.
#pragma once

#include <string>
#include <vector>

#include "client/arguments.hpp"
#include "client/spec_options.hpp"
#include "client/submission.hpp"

namespace mljobd::client {

// All stages or none. Options from the command line win over the file in every stage; those that one stage alone can
// have (name, after, array, key) are refused. Gives the code to exit with.
[[nodiscard]] int submit_pipeline(const Invocation& invocation, const std::string& path, const SpecOptions& options,
                                  const std::vector<std::string>& exports, const Surroundings& surroundings,
                                  const AfterSubmit& after);

}  // namespace mljobd::client
