#include "client/act_on_jobs.hpp"

namespace mljobd::client {

int run_thaw(Invocation& invocation) {
  return act_on_selected(invocation, "Let frozen jobs go on.", "jobctl thaw --state frozen", &ManagerClient::thaw);
}

}  // namespace mljobd::client
