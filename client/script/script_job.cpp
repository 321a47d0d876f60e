#include "client/script/script_job.hpp"

#include <array>

#include <unistd.h>

#include "client/output.hpp"
#include "client/script/script_environment.hpp"
#include "client/script/script_store.hpp"
#include "client/script/slurm_values.hpp"
#include "client/values.hpp"
#include "client/verbs.hpp"
#include "core/slurm_environment.hpp"

namespace mljobd::client {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

void say_what_was_left_out(const ScriptJob& job) {
  if (job.script.line_ends_converted) {
    warn(job.script.name + ": the line ends of DOS are converted in the copy that runs");
  }
  for (const auto& notice : job.request.notices) warn(job.script.name + ": " + to_sentence(notice));
}

Outcome<void> claim_all_memory(ManagerClient& client, core::ValueMap& spec) {
  const auto properties = client.manager_properties();
  if (!properties) return tl::unexpected(properties.error());
  const auto all = find_value<core::Bytes>(map_or_empty(*properties, "Memory"), "jobs_memory_max");
  if (!all) return fail(exit_code::failed, "the daemon does not say how much memory jobs may use; write --mem=SIZE");
  spec.insert_or_assign("memory", core::Value(*all));
  return {};
}

Outcome<void> set_command(const ScriptJob& job, const std::string& copy, core::ValueMap& spec) {
  std::vector<std::string> command = job.script.interpreter;
  command.push_back(copy);
  command.insert(command.end(), job.arguments.begin(), job.arguments.end());
  for (const auto& word : command) {
    if (!is_utf8(word)) return usage_failure("the command has a word that is not UTF-8, which D-Bus cannot carry");
  }
  spec.insert_or_assign("command", core::Value(std::move(command)));
  return {};
}

void mark_as_script(const Script& script, core::ValueMap& spec) {
  auto labels = value_or<core::StringMap>(spec, "labels", {});
  labels.emplace(core::script_label, script.name);
  spec.insert_or_assign("labels", core::Value(std::move(labels)));
}

Outcome<void> set_environment(const Invocation& invocation, const ScriptJob& job, const Surroundings& surroundings,
                              core::ValueMap& spec) {
  if (auto added = add_environment(job.request.exports, spec); !added) return added;
  const ScriptSurroundings around{.submit_directory = surroundings.workdir,
                                  .host = host_name(),
                                  .stand_ins = MLJOBD_STAND_INS,
                                  .user_daemon = invocation.user};
  spec.insert_or_assign("environment", core::Value(script_environment(texts_or_empty(spec, "environment"), spec,
                                                                      job.request.tasks.value_or(1), around)));
  return {};
}

}  // namespace

Outcome<ScriptRequest> read_request(const Script& script, const ScriptContext& context) {
  ScriptRequest request;
  if (auto applied = apply_directives(script.directives, context, request); !applied) {
    return usage_failure(to_sentence(script.name, applied.error()));
  }
  return request;
}

int submit_script(const Invocation& invocation, ScriptJob job, const Surroundings& surroundings, AfterSubmit after) {
  if (surroundings.workdir.empty()) return report({exit_code::usage, "the present directory is gone; cd to another"});
  if (auto completed = complete(surroundings, job.request); !completed) {
    return report({exit_code::usage, to_sentence(job.script.name, completed.error())});
  }
  auto& spec = job.request.spec;
  spec.try_emplace("name", core::Value(usable_job_name(job.script.name)));
  mark_as_script(job.script, spec);
  const auto store = ScriptStore::of_user(bus_of(invocation));
  if (!store) return report(store.error());
  const std::string copy = store->path_of(job.script);
  if (auto set = set_command(job, copy, spec); !set) return report(set.error());
  const auto client = connect(invocation);
  if (!client) return report(client.error());
  if (job.request.all_memory) {
    if (auto claimed = claim_all_memory(**client, spec); !claimed) return report(claimed.error());
  }
  if (auto set = set_environment(invocation, job, surroundings, spec); !set) return report(set.error());
  say_what_was_left_out(job);
  if (!after.test_only) {
    if (const auto kept = store->keep(job.script); !kept) return report(kept.error());
    tidy(*store, **client, surroundings.now);
  }
  return submit_job(**client, std::move(spec), after);
}

}  // namespace mljobd::client
