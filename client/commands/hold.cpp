#include "client/act_on_jobs.hpp"

namespace mljobd::client {

int run_hold(Invocation& invocation) {
  return act_on_many(invocation, {.method = "Hold",
                                  .description = "Keep waiting jobs from starting until they are released.",
                                  .example = "jobctl hold 42 43"});
}

}  // namespace mljobd::client
