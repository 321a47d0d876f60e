#include "client/act_on_jobs.hpp"

namespace mljobd::client {

int run_park(Invocation& invocation) {
  return act_on_selected(invocation,
                         "Freeze jobs and move their memory out to swap, so that others can have it; their work is "
                         "kept. Needs swap with room for it. Parked time does not count for a time limit, and only "
                         "`jobctl unpark` wakes what was parked by hand.",
                         "jobctl park 42", &ManagerClient::park);
}

}  // namespace mljobd::client
