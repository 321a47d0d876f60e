#include "client/act_on_jobs.hpp"
#include "client/output.hpp"
#include "client/spec_options.hpp"

namespace mljobd::client {

int run_set(Invocation& invocation) {
  Selection selection;
  SpecOptions options;
  VerbParser parser(invocation, "Change limits of a job that has not finished.", "jobctl set 42 --mem 24G --time 12h");
  add_job_words(parser.app(), selection, false);
  add_job_filters(parser.app(), selection);
  add_spec_options(parser.app(), SpecUse::set, options);
  if (const auto code = parser.parse()) return *code;
  const auto limits = spec_from(SpecUse::set, options, surroundings());
  if (!limits) return report(limits.error());
  if (limits->empty()) return report({.exit_code = exit_code::usage, .message = "what to change? e.g. --mem 24G"});
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto ids = select_jobs(**client, selection, Purpose::act);
  if (!ids) return report(ids.error());
  return act_on_each(*ids, [&](core::JobId id) { return (*client)->set_limits(id, *limits); });
}

}  // namespace mljobd::client
