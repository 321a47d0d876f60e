#include <algorithm>

#include "client/environment.hpp"
#include "client/foreground.hpp"
#include "client/output.hpp"
#include "client/spec_options.hpp"
#include "client/values.hpp"
#include "client/verbs.hpp"
#include "core/worker_advice.hpp"

namespace mljobd::client {
namespace {

struct ClassOfJob {
  std::string name{};
  int oom_score_adjust = 0;
};

Outcome<ClassOfJob> class_of(ManagerClient& client, const core::ValueMap& spec) {
  const auto classes = client.list_classes();
  if (!classes) return tl::unexpected(classes.error());
  const std::string wanted = text_or_empty(spec, "class");
  for (const auto& row : *classes) {
    const std::string name = text_or_empty(row, "name");
    if (wanted.empty() ? value_or<bool>(row, "default", false) : name == wanted) {
      return ClassOfJob{.name = name, .oom_score_adjust = value_or<std::int32_t>(row, "oom_score_adjust", 0)};
    }
  }
  return usage_failure("there is no class \"" + wanted + "\"; `jobctl classes` lists them");
}

std::string base_name(const std::string& program) { return program.substr(program.rfind('/') + 1); }

std::vector<std::string> job_environment(core::JobId id, const ClassOfJob& job_class, const core::ValueMap& spec) {
  std::vector<std::string> environment{
      "MLJOB_ID=" + std::to_string(id),
      "MLJOB_NAME=" + text_or_empty(spec, "name"),
      "MLJOB_CLASS=" + job_class.name,
      "MLJOB_ATTEMPT=1",
  };
  for (const auto* key : {"memory_max", "memory"}) {
    const auto bytes = find_value<std::uint64_t>(spec, key);
    if (!bytes || *bytes == core::unlimited) continue;
    environment.push_back("MLJOB_MEMORY=" + std::to_string(*bytes));
    break;
  }
  return environment;
}

// What the daemon would tell a job of the queue. Only once the job has its CPUs is it known how many there are.
void add_cpu_environment(ManagerClient& client, core::JobId id, const core::ValueMap& spec,
                         std::vector<std::string>& environment) {
  const auto advice = client.advise({{"job", id}});
  if (!advice) return warn("its MLJOB_CPUS is not known: " + advice.error().message);
  const core::CpuAllotment allotment{.cpus = value_or<std::uint32_t>(*advice, "cpus", 1),
                                     .cores = value_or<std::uint32_t>(*advice, "cores", 1),
                                     .reserved = value_or<std::uint32_t>(spec, "cpus", 0) > 0,
                                     .sharing_jobs = value_or<std::uint32_t>(*advice, "jobs", 1),
                                     .quota_percent = find_value<std::uint32_t>(spec, "cpu_quota_percent")};
  const auto added = core::cpu_environment(allotment, own_environment());
  environment.insert(environment.end(), added.begin(), added.end());
}

int exit_code_from(const ForegroundChild::Exit& exit) {
  return exit.signal != 0 ? exit_code::signal_base + static_cast<int>(exit.signal) : exit.code;
}

int run_in_scope(ManagerClient& client, const core::ValueMap& spec, ForegroundCommand command) {
  const auto job_class = class_of(client, spec);
  if (!job_class) return report(job_class.error());
  command.oom_score_adjust = job_class->oom_score_adjust;
  auto child = ForegroundChild::start(command);
  if (!child) return report(child.error());
  const auto id = client.start_foreground(child->pidfd(), spec);
  if (!id) {
    child->abandon();
    return report(id.error());
  }
  auto environment = job_environment(*id, *job_class, spec);
  add_cpu_environment(client, *id, spec, environment);
  static_cast<void>(child->let_go(environment));
  const auto exit = child->wait();
  // Whatever becomes of the report, the command has run and its code is what the caller wants.
  if (const auto reported = client.report_exit(*id, exit.code, exit.signal); !reported) {
    warn("the end of job " + std::to_string(*id) + " could not be reported: " + reported.error().message);
  }
  return exit_code_from(exit);
}

Outcome<core::ValueMap> build_spec(const SpecOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) return usage_failure("what shall it run? e.g. jobctl run -- python3 train.py");
  const auto around = surroundings();
  auto spec = spec_from(SpecUse::run, options, around);
  if (!spec) return spec;
  spec->emplace("workdir", core::Value(around.workdir));
  spec->emplace("command", core::Value(command));
  spec->emplace("name", core::Value(base_name(command.front())));
  for (const auto& word : command) {
    if (!is_utf8(word)) return usage_failure("the command has a word that is not UTF-8, which D-Bus cannot carry");
  }
  return spec;
}

}  // namespace

int run_run(Invocation& invocation) {
  SpecOptions options;
  std::vector<std::string> command;
  VerbParser parser(invocation,
                    "Run a command now, on this terminal, within the limits of a job. It starts at once or is refused; "
                    "the exit code is the command's.",
                    "jobctl run --mem 4G -- python3 -i explore.py");
  add_spec_options(parser.app(), SpecUse::run, options);
  parser.take_command(command);
  if (const auto code = parser.parse()) return *code;
  const auto spec = build_spec(options, command);
  if (!spec) return report(spec.error());
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  const bool elsewhere = options.texts.contains("workdir");
  return run_in_scope(**client, *spec, {.words = command, .workdir = elsewhere ? text_or_empty(*spec, "workdir") : ""});
}

}  // namespace mljobd::client
