#include "client/output.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {

int run_drain(Invocation& invocation) {
  VerbParser parser(invocation,
                    "Start nothing new; what runs goes on. For root. It lasts until resume, across restarts.",
                    "sudo jobctl drain && jobctl wait --all --all-users");
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto done = (*client)->change_admission("Drain");
  return done ? exit_code::success : report(done.error());
}

}  // namespace mljobd::client
