#include "client/act_on_jobs.hpp"

namespace mljobd::client {

int run_unpark(Invocation& invocation) {
  return act_on_selected(invocation,
                         "Let parked jobs go on, whoever parked them. Their memory comes back as they touch it; where "
                         "memory is still short, mljobd may park them again.",
                         "jobctl unpark --state parked", &ManagerClient::unpark);
}

}  // namespace mljobd::client
