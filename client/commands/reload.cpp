#include "client/output.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {

int run_reload(Invocation& invocation) {
  VerbParser parser(invocation, "Read the configuration again. A bad one is refused and the old one stays. For root.",
                    "sudo jobctl reload");
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto done = (*client)->reload();
  return done ? exit_code::success : report(done.error());
}

}  // namespace mljobd::client
