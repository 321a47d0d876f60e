#include "client/act_on_jobs.hpp"

#include "client/output.hpp"
#include "client/values.hpp"

namespace mljobd::client {
namespace {

Failure for_job(core::JobId id, Failure failure) {
  const std::string job = "job " + std::to_string(id);
  if (failure.message.find(job) == std::string::npos) failure.message.insert(0, job + ": ");
  return failure;
}

int report_outcomes(const Rows& outcomes, Bus bus) {
  int code = exit_code::success;
  for (const auto& outcome : outcomes) {
    const std::string error = text_or_empty(outcome, "error");
    if (error.empty()) continue;
    const int failed = report(for_job(value_or<std::uint32_t>(outcome, "id", 0),
                                      failure_from_bus_error(error, text_or_empty(outcome, "message"), bus)));
    if (code == exit_code::success) code = failed;
  }
  return code;
}

}  // namespace

int act_on_many(Invocation& invocation, const ManyVerb& verb) {
  Selection selection;
  VerbParser parser(invocation, verb.description, verb.example);
  add_job_words(parser.app(), selection, false);
  add_job_filters(parser.app(), selection);
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto ids = select_jobs(**client, selection, Purpose::act);
  if (!ids) return report(ids.error());
  const auto outcomes = (*client)->act_on_many(verb.method, *ids);
  return outcomes ? report_outcomes(*outcomes, bus_of(invocation)) : report(outcomes.error());
}

int act_on_each(const std::vector<core::JobId>& ids, const std::function<Outcome<void>(core::JobId)>& action) {
  int code = exit_code::success;
  for (const auto id : ids) {
    const auto done = action(id);
    if (done) continue;
    if (done.error().daemon_gone) return report(done.error());
    const int failed = report(for_job(id, done.error()));
    if (code == exit_code::success) code = failed;
  }
  return code;
}

int act_on_selected(Invocation& invocation, const std::string& description, const std::string& example,
                    Outcome<void> (ManagerClient::*action)(core::JobId)) {
  Selection selection;
  VerbParser parser(invocation, description, example);
  add_job_words(parser.app(), selection, false);
  add_job_filters(parser.app(), selection);
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto ids = select_jobs(**client, selection, Purpose::act);
  if (!ids) return report(ids.error());
  return act_on_each(*ids, [&](core::JobId id) { return ((**client).*action)(id); });
}

}  // namespace mljobd::client
