// Handing a specification to the daemon, and what `jobctl submit` and `jobctl sbatch` do after that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/failure.hpp"
#include "client/manager_client.hpp"
#include "core/value.hpp"

namespace mljobd::client {

struct AfterSubmit {
  bool wait = false;
  bool follow = false;     // waits too
  bool parsable = false;   // the bare id
  bool test_only = false;  // plan it, queue nothing
  std::string_view sentence = "Submitted job ";
};

// The present environment as --export asks for it, into the specification; what D-Bus cannot carry is said.
[[nodiscard]] Outcome<void> add_environment(const std::vector<std::string>& exports, core::ValueMap& spec);

// Submits, prints, waits; gives the code to exit with.
[[nodiscard]]  // For the plan that the daemon makes of a trial; exposed for the tests.
[[nodiscard]] std::string
preview_text(const Rows& plan);

int submit_job(ManagerClient& client, core::ValueMap spec, const AfterSubmit& after);
// The same for specifications that name each other; all of them or none.
[[nodiscard]] int submit_jobs(ManagerClient& client, Rows specs, const AfterSubmit& after);

}  // namespace mljobd::client
