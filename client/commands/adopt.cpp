#include <cerrno>
#include <cstring>

#include <CLI/CLI.hpp>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/output.hpp"
#include "client/spec_options.hpp"
#include "client/unique_fd.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

// The process that has this number now, whoever gets the number later.
Outcome<UniqueFd> open_process(int pid) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (fd.valid()) return fd;
  if (errno == ESRCH) return fail(exit_code::no_such_job, "there is no process " + std::to_string(pid));
  return fail(exit_code::failed, "process " + std::to_string(pid) + " cannot be opened: " + std::strerror(errno));
}

int adopt(const Invocation& invocation, const std::vector<int>& pids, const SpecOptions& options, bool parsable) {
  const auto around = surroundings();
  auto spec = spec_from(SpecUse::adopt, options, around);
  if (!spec) return report(spec.error());
  spec->emplace("workdir", core::Value(around.workdir));
  std::vector<UniqueFd> processes;
  for (const int pid : pids) {
    auto process = open_process(pid);
    if (!process) return report(process.error());
    processes.push_back(std::move(*process));
  }
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const auto id = (*client)->adopt(processes, *spec);
  if (!id) return report(id.error());
  return print((parsable ? "" : "Adopted as job ") + std::to_string(*id) + "\n");
}

}  // namespace

int run_adopt(Invocation& invocation) {
  SpecOptions options;
  std::vector<int> pids;
  bool parsable = false;
  VerbParser parser(invocation,
                    "Bring running processes of yours under a job. Their children come along only as far as they are "
                    "named, or are born later; memory they hold already is not counted, nor is their exit code known.",
                    "jobctl adopt --class train --mem 20G $(pgrep -f train.py)");
  auto& app = parser.app();
  app.add_option("pid", pids, "process ids")->required()->check(CLI::PositiveNumber)->type_name("PID");
  app.add_flag("-q,--parsable", parsable, "print the bare job id");
  add_spec_options(app, SpecUse::adopt, options);
  if (const auto code = parser.parse()) return *code;
  return adopt(invocation, pids, options, parsable);
}

}  // namespace mljobd::client
