#include "client/act_on_jobs.hpp"

namespace mljobd::client {

int run_cancel(Invocation& invocation) {
  return act_on_many(
      invocation,
      {.method = "Cancel",
       .description = "Stop jobs: SIGTERM, the stop timeout, SIGKILL. A waiting job leaves the queue at once.",
       .example = "jobctl cancel --class validate"});
}

}  // namespace mljobd::client
