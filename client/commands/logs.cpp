#include <CLI/CLI.hpp>
#include <unistd.h>

#include "client/following.hpp"
#include "client/log_reader.hpp"
#include "client/output.hpp"
#include "client/selection.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

struct LogsOptions {
  std::string job{};
  bool follow = false;
  std::optional<std::uint64_t> lines{};
  std::optional<std::uint32_t> attempt{};
};

int print_log(ManagerClient& client, core::JobId id, const LogsOptions& options) {
  const auto log = client.open_log(id, options.attempt);
  if (!log) return report(log.error());
  const auto start = options.lines ? tail_start(log->get(), *options.lines) : Outcome<off_t>(0);
  if (!start) return report(start.error());
  LogReader reader(log->get(), *start, announce_hole);
  const auto copied = reader.copy_available(STDOUT_FILENO);
  return copied ? exit_code::success : report(copied.error());
}

int follow(ManagerClient& client, core::JobId id, const LogsOptions& options) {
  const std::string number = std::to_string(id);
  detach_on_interrupt("job " + number + " goes on; `jobctl cancel " + number + "` stops it");
  JobWatch watch(client);
  if (auto started = watch.start(); !started) return report(started.error());
  const auto row = follow_log(client, watch, {.id = id, .attempt = options.attempt, .lines = options.lines});
  return row ? exit_code::success : report(row.error());
}

}  // namespace

int run_logs(Invocation& invocation) {
  LogsOptions options;
  VerbParser parser(invocation, "The output of a job, byte for byte; progress bars included.",
                    "jobctl logs -f -n 20 @");
  auto& app = parser.app();
  app.add_option("job", options.job, "job id, name of a job of yours, or @ for the last one submitted")
      ->required()
      ->type_name("JOB");
  app.add_flag("-f,--follow", options.follow, "go on as it grows, until the job ends");
  app.add_option("-n,--lines", options.lines, "only the last N lines")->type_name("N");
  app.add_option("--attempt", options.attempt, "of this attempt; default: the last")->type_name("N");
  if (const auto code = parser.parse()) return *code;
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto id = select_job(**client, options.job);
  if (!id) return report(id.error());
  return options.follow ? follow(**client, *id, options) : print_log(**client, *id, options);
}

}  // namespace mljobd::client
