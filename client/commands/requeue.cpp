#include "client/act_on_jobs.hpp"

namespace mljobd::client {

int run_requeue(Invocation& invocation) {
  return act_on_many(
      invocation,
      {.method = "Requeue",
       .description =
           "Put finished jobs back into the queue, and running ones after they have been stopped; the id stays.",
       .example = "jobctl requeue 42"});
}

}  // namespace mljobd::client
