#include <CLI/CLI.hpp>

#include "client/act_on_jobs.hpp"
#include "client/output.hpp"
#include "client/signals.hpp"

namespace mljobd::client {

int run_signal(Invocation& invocation) {
  Selection selection;
  std::string name = "TERM";
  bool main_only = false;
  VerbParser parser(invocation, "Send a signal to the processes of a job.", "jobctl signal -s USR1 42");
  auto& app = parser.app();
  app.add_option("-s,--signal", name, "name or number; default: TERM")->type_name("SIGNAL");
  app.add_flag("--main", main_only, "to its main process only");
  add_job_words(app, selection, false);
  add_job_filters(app, selection);
  if (const auto code = parser.parse()) return *code;
  const auto signal = signal_from(name);
  if (!signal) {
    return report(
        {.exit_code = exit_code::usage, .message = "there is no signal \"" + name + "\"; `kill -l` lists them"});
  }
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto ids = select_jobs(**client, selection, Purpose::act);
  if (!ids) return report(ids.error());
  const core::ValueMap options{{"who", core::Value(main_only ? "main" : "all")}};
  return act_on_each(*ids, [&](core::JobId id) { return (*client)->signal_job(id, *signal, options); });
}

}  // namespace mljobd::client
