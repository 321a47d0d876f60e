#include <CLI/CLI.hpp>

#include "client/json.hpp"
#include "client/output.hpp"
#include "client/render_list.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {

int run_classes(Invocation& invocation) {
  bool json = false;
  bool no_legend = false;
  VerbParser parser(invocation, "The classes of jobs, most important first: their weights, bounds and jobs.",
                    "jobctl classes");
  parser.app().add_flag("--json", json, "as JSON");
  parser.app().add_flag("--no-legend", no_legend, "no titles above the columns");
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto classes = (*client)->list_classes();
  if (!classes) return report(classes.error());
  if (json) return print(json_list("classes", *classes));
  const auto table = render_classes(*classes, table_style(invocation, !no_legend));
  return table ? print(*table) : report(table.error());
}

}  // namespace mljobd::client
