#include "client/act_on_jobs.hpp"

namespace mljobd::client {

int run_freeze(Invocation& invocation) {
  return act_on_selected(invocation,
                         "Stop all processes of a job where they are, without a signal. Its memory stays in use, and "
                         "so does its GPU; frozen time does not count for its time limit.",
                         "jobctl freeze 42", &ManagerClient::freeze);
}

}  // namespace mljobd::client
