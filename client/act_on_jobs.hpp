// Verbs that do one thing to many jobs, and say for each whether it was done.
#pragma once

#include <functional>
#include <string>

#include "client/manager_client.hpp"
#include "client/selection.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {

// Cancel, Hold, Release, Requeue: one call for all.
struct ManyVerb {
  std::string method{};       // of the manager
  std::string description{};  // of the help
  std::string example{};
};
[[nodiscard]] int act_on_many(Invocation& invocation, const ManyVerb& verb);

// One call for each job; goes on after a failure and gives the exit code of the first.
[[nodiscard]] int act_on_each(const std::vector<core::JobId>& ids,
                              const std::function<Outcome<void>(core::JobId)>& action);

// Freeze, thaw, park and unpark: words and filters, and nothing else.
[[nodiscard]] int act_on_selected(Invocation& invocation, const std::string& description, const std::string& example,
                                  Outcome<void> (ManagerClient::*action)(core::JobId));

}  // namespace mljobd::client
