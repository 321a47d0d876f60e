#include <CLI/CLI.hpp>

#include "client/json.hpp"
#include "client/output.hpp"
#include "client/render_text.hpp"
#include "client/values.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {

int run_version(Invocation& invocation) {
  bool json = false;
  VerbParser parser(invocation, "Versions of jobctl and, if it answers, of the daemon.", "jobctl version");
  parser.app().add_flag("--json", json, "as JSON");
  if (const auto code = parser.parse()) return *code;
  std::string daemon;
  if (const auto client = connect(invocation)) {
    const auto properties = (*client)->manager_properties();
    if (properties) daemon = text_or_empty(*properties, "Version");
  }
  if (json) {
    return print(json_object("versions", {{"jobctl", core::Value(MLJOBD_VERSION)}, {"mljobd", core::Value(daemon)}}));
  }
  return print("jobctl " MLJOBD_VERSION "\nmljobd " + (daemon.empty() ? "does not answer" : harmless(daemon)) + "\n");
}

}  // namespace mljobd::client
