#include <optional>

#include <CLI/CLI.hpp>

#include "client/event_stream.hpp"
#include "client/json.hpp"
#include "client/output.hpp"
#include "client/render_list.hpp"
#include "client/selection.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

struct EventsOptions {
  std::string job{};
  std::uint32_t count = 100;
  bool follow = false;
  bool json = false;
};

std::string text_of(const Rows& events, bool json) {
  std::string text;
  for (const auto& event : events) text += json ? json_event_line(event) : render_event(event);
  return text;
}

// The signal says that something happened; the list says all of it, decisions and what a restart hid included.
int follow(ManagerClient& client, const core::ValueMap& filter, EventStream& stream, bool json) {
  constexpr std::chrono::milliseconds idle(60'000);
  constexpr std::chrono::milliseconds retry(2'000);
  bool stale = false;
  bool absent = false;
  if (auto watched = client.watch_daemon([&](bool present) { stale = present; }); !watched) {
    return report(watched.error());
  }
  const auto heard = [&] { stale = true; };
  if (auto subscribed = client.subscribe([&](const StateChange&) { heard(); }, heard); !subscribed) {
    return report(subscribed.error());
  }
  for (stale = true;;) {
    if (!stale || absent) {
      if (auto ran = client.run_once(absent ? retry : idle); !ran) return report(ran.error());
      absent = false;
    }
    if (!stale) continue;
    stale = false;
    auto newer = filter;
    newer.insert_or_assign("since", core::Value(stream.since()));
    newer.insert_or_assign("limit", core::Value(std::uint32_t{10000}));
    const auto events = client.list_events(newer);
    if (!events && !events.error().daemon_gone) return report(events.error());
    absent = !events;
    stale = absent;
    if (!events) continue;
    const int printed = print(text_of(stream.fresh(*events), json));
    if (printed != exit_code::success) return printed;
  }
}

int events(const Invocation& invocation, const EventsOptions& options) {
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  core::ValueMap filter{{"limit", core::Value(options.count)}};
  if (!options.job.empty()) {
    const auto id = select_job(**client, options.job);
    if (!id) return report(id.error());
    filter.emplace("job", core::Value(*id));
  }
  const auto listed = (*client)->list_events(filter);
  if (!listed) return report(listed.error());
  if (!options.follow) {
    return print(options.json ? json_events(*listed) : text_of(*listed, false));
  }
  EventStream stream;
  const int printed = print(text_of(stream.fresh(*listed), options.json));
  return printed == exit_code::success ? follow(**client, filter, stream, options.json) : printed;
}

}  // namespace

int run_events(Invocation& invocation) {
  EventsOptions options;
  VerbParser parser(
      invocation,
      "What happened, oldest first, one line each: changes of state, decisions, growing memory, the daemon.",
      "jobctl events -f");
  auto& app = parser.app();
  app.add_option("job", options.job, "of this job only: id, name, or @")->type_name("JOB");
  app.add_flag("-f,--follow", options.follow, "go on with what happens from now on");
  app.add_option("-n,--lines", options.count, "the last so many")->check(CLI::Range(1, 10000))->type_name("N");
  app.add_flag("--json", options.json, "as JSON; with -f one object a line");
  if (const auto code = parser.parse()) return *code;
  return events(invocation, options);
}

}  // namespace mljobd::client
