#include "client/output.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {

int run_resume(Invocation& invocation) {
  VerbParser parser(invocation, "Start jobs again after drain. For root.", "sudo jobctl resume");
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto done = (*client)->change_admission("Resume");
  return done ? exit_code::success : report(done.error());
}

}  // namespace mljobd::client
