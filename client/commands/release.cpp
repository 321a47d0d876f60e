#include "client/act_on_jobs.hpp"

namespace mljobd::client {

int run_release(Invocation& invocation) {
  return act_on_many(invocation, {.method = "Release",
                                  .description = "Let held jobs start when their turn comes.",
                                  .example = "jobctl release --state held"});
}

}  // namespace mljobd::client
