#include <algorithm>
#include <array>

#include "client/begin_time.hpp"
#include "client/dependency_list.hpp"
#include "client/script/script_request.hpp"
#include "client/script/slurm_values.hpp"
#include "client/signals.hpp"
#include "core/array_indices.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

using core::Expected;
using core::Value;

// One option while it is applied.
struct Step {
  const SlurmUse& use;
  const ScriptContext& context;
  ScriptRequest& request;

  void set(std::string_view key, Value value) const {
    request.spec.insert_or_assign(std::string(key), std::move(value));
  }
  void forget(std::string_view key) const { request.spec.erase(std::string(key)); }
  void notice(std::string_view reason) const {
    auto& notices = request.notices;
    auto found = std::find_if(notices.begin(), notices.end(), [&](const Notice& n) { return n.reason == reason; });
    if (found == notices.end()) found = notices.insert(notices.end(), {.reason = std::string(reason)});
    found->places.push_back({.option = "--" + std::string(use.option->name), .line = use.line});
  }
};

using Handler = Expected<void> (*)(const Step&);

tl::unexpected<core::Error> refuse(std::string reason) {
  return core::failure(core::ErrorCode::invalid_spec, std::move(reason));
}

// What a shell would replace and sbatch does not; both mean it as it stands.
void mention_variables(const Step& step) {
  if (step.use.value.find('$') != std::string::npos || step.use.value.starts_with('~')) {
    step.notice("variables and ~ stay as they are in a directive; %j, %x, %u and the like are replaced");
  }
}

Expected<void> set_name(const Step& step) {
  const std::string name = usable_job_name(step.use.value);
  if (name != step.use.value)
    step.notice("the job is called " + core::quoted(name) + ", which cannot be taken for an id or a path");
  step.set("name", name);
  return {};
}

Expected<void> set_cpus_per_task(const Step& step) {
  return parse_slurm_count(step.use.value).map([&](std::uint32_t count) {
    step.request.cpus_per_task = count;
    step.forget("cpus");
  });
}

Expected<void> set_tasks(const Step& step) {
  return parse_slurm_count(step.use.value).map([&](std::uint32_t count) {
    step.request.tasks = count;
    step.forget("cpus");
  });
}

// With --ntasks it is an upper bound, which one machine always keeps or cannot keep.
Expected<void> set_tasks_per_node(const Step& step) {
  return parse_slurm_count(step.use.value).map([&](std::uint32_t count) {
    if (!step.request.tasks) step.request.tasks = count;
    step.forget("cpus");
  });
}

Expected<void> check_nodes(const Step& step) {
  const auto nodes = parse_slurm_nodes(step.use.value);
  if (!nodes) return tl::unexpected(nodes.error());
  if (*nodes > 1) {
    return refuse("the job needs " + std::to_string(*nodes) +
                  " machines and there is one here; ask for 1, with --ntasks for several processes");
  }
  return {};
}

void forget_memory(const Step& step) {
  step.forget("memory");
  step.request.memory_per_cpu.reset();
  step.request.all_memory = false;
}

Expected<void> set_memory(const Step& step) {
  return parse_slurm_memory(step.use.value).map([&](core::Bytes bytes) {
    forget_memory(step);
    if (bytes == 0) {
      step.request.all_memory = true;
    } else {
      step.set("memory", bytes);
    }
  });
}

Expected<void> set_memory_per_cpu(const Step& step) {
  return parse_slurm_memory(step.use.value).map([&](core::Bytes bytes) {
    forget_memory(step);
    if (bytes == 0) {
      step.request.all_memory = true;
    } else {
      step.request.memory_per_cpu = bytes;
    }
  });
}

Expected<void> set_time(const Step& step) {
  return parse_slurm_time(step.use.value).map([&](const std::optional<core::Microseconds>& limit) {
    step.forget("time_limit");
    if (limit) step.set("time_limit", static_cast<std::uint64_t>(limit->count()));
  });
}

Expected<void> set_dependency(const Step& step) {
  return parse_dependencies(step.use.value, "any").map([&](DependencyList list) {
    step.forget("after");
    step.forget("singleton");
    if (!list.jobs.empty()) step.set("after", std::move(list.jobs));
    if (list.singleton) step.set("singleton", true);
  });
}

Expected<void> set_array(const Step& step) {
  return core::parse_array_indices(step.use.value).map([&](const auto&) { step.set("array", step.use.value); });
}

Expected<void> set_output(const Step& step) {
  if (step.use.value.empty()) return refuse("names no file");
  mention_variables(step);
  step.request.slurm_output = step.use.value;
  step.forget("output");
  return {};
}

Expected<void> set_error(const Step& step) {
  if (step.use.value.empty()) return refuse("names no file");
  mention_variables(step);
  step.request.slurm_error = step.use.value;
  step.forget("error");
  return {};
}

Expected<void> set_open_mode(const Step& step) {
  if (step.use.value != "append" && step.use.value != "truncate") {
    return refuse(core::quoted(step.use.value) + " is neither append nor truncate");
  }
  step.set("open_mode", step.use.value);
  return {};
}

Expected<void> set_workdir(const Step& step) {
  if (step.use.value.empty()) return refuse("names no directory");
  mention_variables(step);
  step.set("workdir", absolute_path(step.use.value, step.context.surroundings.workdir));
  return {};
}

Expected<void> set_signal(const Step& step) {
  return parse_warning_signal(step.use.value).map([&](const WarningSignal& warning) {
    step.set("warn_signal", core::SignalAndTime(warning.signal, static_cast<std::uint64_t>(warning.before.count())));
    step.set("warn_signal_to", warning.receiver == WarningReceiver::main_process ? "main" : "steps");
  });
}

Expected<void> set_begin(const Step& step) {
  return parse_begin_time(step.use.value, step.context.surroundings.now).map([&](core::RealTime moment) {
    step.set("begin", static_cast<std::uint64_t>(std::max(moment, core::RealTime{}).time_since_epoch().count()));
  });
}

Expected<void> set_nice(const Step& step) {
  return parse_slurm_nice(step.use.value).map([&](std::int32_t priority) { step.set("priority", priority); });
}

bool is_set(std::string_view name, std::span<const std::string> environment) {
  return std::any_of(environment.begin(), environment.end(), [&](std::string_view variable) {
    return variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=';
  });
}

// A name that is not set is no mistake for Slurm, other than on jobctl's own command line.
Expected<void> set_exports(const Step& step) {
  step.request.exports.assign(1, "NONE");
  auto& list = step.request.exports.front();
  for (std::string_view rest = step.use.value;;) {
    const auto comma = rest.find(',');
    const auto entry = rest.substr(0, comma);
    const bool keyword = entry.empty() || entry == "ALL" || entry == "NONE" || entry == "NIL";
    if (keyword) {
      if (entry == "ALL") list.append(",ALL");
    } else if (entry.find('=') != std::string_view::npos || is_set(entry, step.context.environment)) {
      list.append(",").append(entry);
    } else {
      step.notice("a variable that is named there is not set");
    }
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 1);
  }
}

Expected<void> set_comment(const Step& step) {
  step.set("comment", step.use.value);
  return {};
}

template <bool wanted>
Expected<void> set_requeue(const Step& step) {
  step.set("requeue", wanted);
  return {};
}

Expected<void> set_hold(const Step& step) {
  step.set("hold", true);
  return {};
}

template <bool ScriptRequest::* flag>
Expected<void> raise(const Step& step) {
  step.request.*flag = true;
  return {};
}

Expected<void> set_wrap(const Step& step) {
  step.request.wrap = step.use.value;
  return {};
}

struct Honoured {
  std::string_view option;
  Handler apply;
};
constexpr std::array honoured{
    Honoured{"job-name", set_name},
    Honoured{"cpus-per-task", set_cpus_per_task},
    Honoured{"ntasks", set_tasks},
    Honoured{"ntasks-per-node", set_tasks_per_node},
    Honoured{"nodes", check_nodes},
    Honoured{"mem", set_memory},
    Honoured{"mem-per-cpu", set_memory_per_cpu},
    Honoured{"time", set_time},
    Honoured{"dependency", set_dependency},
    Honoured{"array", set_array},
    Honoured{"output", set_output},
    Honoured{"error", set_error},
    Honoured{"open-mode", set_open_mode},
    Honoured{"chdir", set_workdir},
    Honoured{"workdir", set_workdir},
    Honoured{"signal", set_signal},
    Honoured{"begin", set_begin},
    Honoured{"nice", set_nice},
    Honoured{"export", set_exports},
    Honoured{"comment", set_comment},
    Honoured{"requeue", set_requeue<true>},
    Honoured{"no-requeue", set_requeue<false>},
    Honoured{"hold", set_hold},
    Honoured{"wait", raise<&ScriptRequest::wait>},
    Honoured{"parsable", raise<&ScriptRequest::parsable>},
    Honoured{"test-only", raise<&ScriptRequest::test_only>},
    Honoured{"wrap", set_wrap},
};

Expected<void> apply_one(const Step& step) {
  switch (step.use.option->treatment) {
    case SlurmTreatment::unimportant:
      return {};
    case SlurmTreatment::left_out:
      step.notice(step.use.option->reason);
      return {};
    case SlurmTreatment::refused:
      return refuse(std::string(step.use.option->reason));
    case SlurmTreatment::honoured:
      break;
  }
  const auto* const found = std::find_if(honoured.begin(), honoured.end(),
                                         [&](const Honoured& entry) { return entry.option == step.use.option->name; });
  return found->apply(step);
}

}  // namespace

tl::expected<void, Complaint> apply_slurm(std::span<const SlurmUse> uses, const ScriptContext& context,
                                          ScriptRequest& request) {
  for (const auto& use : uses) {
    const std::string name = "--" + std::string(use.option->name);
    if (!core::is_valid_utf8(use.value)) return tl::unexpected(Complaint{use.line, name + ": the value is not UTF-8"});
    if (auto applied = apply_one({.use = use, .context = context, .request = request}); !applied) {
      return tl::unexpected(Complaint{use.line, name + ": " + applied.error().message});
    }
  }
  return {};
}

}  // namespace mljobd::client
