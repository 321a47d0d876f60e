#include "client/script/script_environment.hpp"

#include <algorithm>

#include "client/values.hpp"

namespace mljobd::client {
namespace {

// What systemd gives a service that names none.
constexpr std::string_view usual_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin";

class Variables {
 public:
  explicit Variables(std::vector<std::string> variables) : variables_(std::move(variables)) {}

  void set(std::string_view name, std::string_view value) {
    std::string variable = std::string(name).append("=").append(value);
    const auto found = find(name);
    if (found != variables_.end()) {
      *found = std::move(variable);
    } else {
      variables_.push_back(std::move(variable));
    }
  }
  void set(std::string_view name, std::uint64_t value) { set(name, std::to_string(value)); }

  void put_first_on_path(std::string_view folder) {
    const auto found = find("PATH");
    std::string path(found == variables_.end() ? usual_path : std::string_view(*found).substr(5));
    const bool is_first = path == folder || path.starts_with(std::string(folder) + ":");
    if (!is_first) path.insert(0, std::string(folder) + ":");
    set("PATH", path);
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(variables_); }

 private:
  std::vector<std::string>::iterator find(std::string_view name) {
    return std::find_if(variables_.begin(), variables_.end(), [&](std::string_view variable) {
      return variable.starts_with(name) && variable.substr(name.size()).starts_with('=');
    });
  }

  std::vector<std::string> variables_;
};

void add_cores(Variables& variables, const core::ValueMap& spec, std::uint32_t tasks) {
  const auto cpus = find_value<std::uint32_t>(spec, "cpus");
  if (!cpus) return;
  variables.set("SLURM_CPUS_PER_TASK", std::max<std::uint32_t>(1, *cpus / tasks));
  variables.set("SLURM_CPUS_ON_NODE", *cpus);
  variables.set("SLURM_JOB_CPUS_PER_NODE", *cpus);
}

}  // namespace

std::vector<std::string> script_environment(std::vector<std::string> environment, const core::ValueMap& spec,
                                            std::uint32_t tasks, const ScriptSurroundings& around) {
  constexpr core::Bytes mebibyte = core::Bytes{1} << 20;
  Variables variables(std::move(environment));
  const std::string_view host = std::string_view(around.host).substr(0, around.host.find('.'));
  variables.set("SLURM_JOB_NAME", text_or_empty(spec, "name"));
  variables.set("SLURM_SUBMIT_DIR", around.submit_directory);
  for (const auto* name : {"SLURM_SUBMIT_HOST", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURMD_NODENAME"}) {
    variables.set(name, host);
  }
  for (const auto* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}) variables.set(name, 1);
  for (const auto* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_TASKS_PER_NODE"}) variables.set(name, tasks);
  for (const auto* name : {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"}) variables.set(name, 0);
  add_cores(variables, spec, tasks);
  if (const auto memory = find_value<std::uint64_t>(spec, "memory"); memory && *memory != core::unlimited) {
    variables.set("SLURM_MEM_PER_NODE", *memory / mebibyte);
  }
  if (around.user_daemon) variables.set("MLJOBD_USER", 1);
  variables.set("MLJOBD_STAND_INS", around.stand_ins);
  variables.put_first_on_path(around.stand_ins);
  return variables.take();
}

}  // namespace mljobd::client
