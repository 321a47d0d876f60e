#include "systemd/unit_properties.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/format.hpp"
#include "core/unit_names.hpp"

namespace mljobd::systemd {
namespace {

using Properties = std::vector<UnitProperty>;

constexpr const char* shutdown_target = "shutdown.target";

// Of systemd's AllowedCPUs: one bit for each logical CPU, the lowest first.
std::vector<std::uint8_t> cpu_mask(const core::CpuList& cpus) {
  std::vector<std::uint8_t> mask;
  for (const std::uint32_t cpu : cpus) {
    const std::size_t byte = cpu / 8;
    if (byte >= mask.size()) mask.resize(byte + 1);
    mask[byte] = static_cast<std::uint8_t>(mask[byte] | (1U << (cpu % 8)));
  }
  return mask;
}

// A quota of 1 % is a hundredth of a second of CPU time per second.
std::uint64_t cpu_usec_per_second(std::uint32_t percent) { return std::uint64_t{percent} * 10'000; }

void add_accounting(Properties& properties) {
  for (const char* name : {"CPUAccounting", "MemoryAccounting", "IOAccounting", "TasksAccounting"}) {
    properties.push_back({name, true});
  }
}

std::string description(const core::Job& job) {
  return "mljobd job " + std::to_string(job.id) + " (" + job.spec.name + ")";
}

// The home of a relative command is the job's directory, as in a shell that went there.
std::string executable(const core::JobSpec& spec) {
  const std::string& program = spec.command.front();
  if (program.starts_with('/') || program.find('/') == std::string::npos) return program;
  return spec.workdir + (spec.workdir.ends_with('/') ? "" : "/") + program;
}

// What PID 1 takes: absolute, without "." and ".." and without control characters.
bool is_usable_directory(std::string_view path) {
  if (!path.starts_with('/') || path.ends_with('\\')) return false;
  const auto is_control = [](char character) { return static_cast<unsigned char>(character) < 32 || character == 127; };
  if (std::any_of(path.begin(), path.end(), is_control)) return false;
  while (!path.empty()) {
    const auto end = path.find('/');
    const auto part = path.substr(0, end);
    if (part == "." || part == "..") return false;
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return true;
}

// Empty where the job has no PATH of its own, or nothing in it can be used: PID 1 then searches its default.
std::vector<std::string> search_path(const core::JobSpec& spec) {
  constexpr std::string_view key = "PATH=";
  std::vector<std::string> directories;
  const auto entry = std::find_if(spec.environment.rbegin(), spec.environment.rend(),
                                  [&](const std::string& variable) { return variable.starts_with(key); });
  if (entry == spec.environment.rend()) return directories;
  std::string_view rest = std::string_view(*entry).substr(key.size());
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const auto directory = rest.substr(0, end);
    if (is_usable_directory(directory)) directories.emplace_back(directory);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return directories;
}

// systemd 252 keeps a transient unit in a file and reads it again at every daemon-reload, where a semicolon in an
// argument comes back as "\;": a job that waits for its start just then would run something else than was asked for.
bool survives_reload(const std::string& argument) { return argument.find(';') == std::string::npos; }

// For mljob-launch --encoded, which reads it back.
std::string encoded(const std::string& argument) {
  std::string text;
  for (const char character : argument) {
    if (character == ';') {
      text += "=3B";
    } else if (character == '=') {
      text += "=3D";
    } else {
      text += character;
    }
  }
  return text;
}

// Slurm sends a warning to the steps and not to the script: one that does not trap it must not die of it.
std::optional<std::int32_t> ignored_signal(const core::JobSpec& spec) {
  if (!spec.warn_signal || spec.warn_signal->to != core::WarnSignal::To::steps) return std::nullopt;
  return spec.warn_signal->number;
}

ExecCommand launched(const core::JobSpec& spec, const JobFiles& files) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::string& path) {
    if (!path.empty()) arguments.insert(arguments.end(), {option, path});
  };
  const bool to_files = !files.output.empty() || !files.error.empty();
  if (to_files && spec.open_mode == core::OpenMode::truncate) add("--open-mode", "truncate");
  add("--output", files.output);
  add("--error", files.error);
  if (const auto ignored = ignored_signal(spec)) add("--ignore-signal", std::to_string(*ignored));
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), spec.command.begin(), spec.command.end());
  ExecCommand command{.path = files.launcher, .argv = {files.launcher}};
  if (!std::all_of(arguments.begin(), arguments.end(), survives_reload)) {
    std::transform(arguments.begin(), arguments.end(), arguments.begin(), encoded);
    command.argv.emplace_back("--encoded");
  }
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  return command;
}

void add_command(Properties& properties, const core::JobSpec& spec, const JobFiles& files) {
  if (goes_through_launcher(spec)) {
    properties.push_back({"ExecStart", std::vector{launched(spec, files)}});
    return;
  }
  auto program = executable(spec);
  const bool must_be_found = !program.starts_with('/');
  if (auto directories = search_path(spec); must_be_found && !directories.empty()) {
    properties.push_back({"ExecSearchPath", std::move(directories)});
  }
  properties.push_back({"ExecStart", std::vector{ExecCommand{.path = std::move(program), .argv = spec.command}}});
}

std::uint64_t stop_timeout(const core::Job& job, const core::Settings& settings) {
  // To systemd 0 is "wait for ever"; to whoever asked for it, "kill at once".
  constexpr core::Microseconds at_once{1000};
  return static_cast<std::uint64_t>(
      std::max(job.spec.stop_timeout.value_or(settings.default_stop_timeout), at_once).count());
}

// The order that the default dependencies would give. They would also require sysinit.target, and have PID 1 go through
// everything that makes it up at each start.
void add_shutdown_order(Properties& properties, ManagerScope manager, std::vector<std::string> before) {
  properties.push_back({"DefaultDependencies", false});
  properties.push_back({"Conflicts", std::vector<std::string>{shutdown_target}});
  // File systems and swap outlive the job at a shutdown.
  if (manager == ManagerScope::system) properties.push_back({"After", std::vector<std::string>{"sysinit.target"}});
  // What stops later starts earlier: at a shutdown the daemon goes first, and does not take the end of the jobs for
  // their own.
  properties.push_back({"Before", std::move(before)});
}

void add_unit_basics(Properties& properties, const core::Job& job, const core::Settings& settings,
                     ManagerScope manager) {
  properties.push_back({"Description", description(job)});
  properties.push_back({"Slice", core::job_slice(job)});
  add_shutdown_order(properties, manager, {shutdown_target, "mljobd.service"});
  // A failed unit keeps its result until the daemon has read it.
  properties.push_back({"CollectMode", std::string("inactive")});
  properties.push_back({"KillMode", std::string("control-group")});
  properties.push_back({"SendSIGKILL", true});
  properties.push_back({"TimeoutStopUSec", stop_timeout(job, settings)});
  properties.push_back({"OOMPolicy", std::string(core::to_word(job.spec.limits.oom_policy))});
}

std::int32_t oom_score(const core::Job& job, const core::JobClass* job_class) {
  const std::int32_t of_class = job_class != nullptr ? job_class->oom_score_adjust : core::JobClass{}.oom_score_adjust;
  return std::max(of_class, job.spec.limits.oom_score_adjust.value_or(of_class));
}

// As the host's own /dev/shm is mounted.
std::string shm_options(core::Bytes size) { return "mode=1777,nosuid,nodev,size=" + std::to_string(size); }

std::pair<std::string, Properties> slice_of(const core::Job& job, const core::Settings& settings,
                                            const core::CpuList& cpus) {
  return {core::job_slice(job), slice_properties(job, core::find_class(settings, job.spec.class_name), cpus)};
}

void add_memory(Properties& properties, const core::Limits& limits) {
  if (const auto ceiling = core::memory_ceiling(limits); ceiling != core::unlimited) {
    properties.push_back({"MemoryMax", ceiling});
  }
  if (limits.memory_high) properties.push_back({"MemoryHigh", *limits.memory_high});
  // Where there is swap, a ceiling on memory alone only moves the runaway into it.
  properties.push_back({"MemorySwapMax", limits.swap_max.value_or(0)});
}

}  // namespace

bool goes_through_launcher(const core::JobSpec& spec) {
  return !spec.output.empty() || !spec.error.empty() || ignored_signal(spec) ||
         !std::all_of(spec.command.begin(), spec.command.end(), survives_reload);
}

UnitRequest job_request(const core::Job& job, const core::Settings& settings, const core::CpuList& cpus,
                        const JobFiles& files, ManagerScope manager) {
  const core::JobSpec& spec = job.spec;
  UnitRequest request{.name = core::job_unit(job), .properties = {}, .auxiliary = {slice_of(job, settings, cpus)}};
  Properties& properties = request.properties;
  add_unit_basics(properties, job, settings, manager);
  properties.push_back({"Type", std::string("exec")});
  properties.push_back({"RemainAfterExit", true});
  if (manager == ManagerScope::system) {
    properties.push_back({"User", job.owner_name.empty() ? std::to_string(job.owner) : job.owner_name});
  }
  properties.push_back({"WorkingDirectory", spec.workdir});
  properties.push_back({"StandardInput", std::string("null")});
  properties.push_back({"StandardOutputFileToAppend", files.log_path});
  properties.push_back({"StandardErrorFileToAppend", files.log_path});
  properties.push_back(
      {"EnvironmentFiles", std::vector<std::pair<std::string, bool>>{{files.environment_file, false}}});
  // systemd ignores it for services unless told otherwise, and `python … | head` would then never end.
  properties.push_back({"IgnoreSIGPIPE", false});
  properties.push_back({"OOMScoreAdjust", oom_score(job, core::find_class(settings, spec.class_name))});
  if (spec.limits.private_shm) {
    properties.push_back({"TemporaryFileSystem", std::vector<std::pair<std::string, std::string>>{
                                                     {"/dev/shm", shm_options(*spec.limits.private_shm)}}});
    // A user's own manager may mount only where it is root: in a user namespace. systemd does not think of it itself.
    if (manager == ManagerScope::user) properties.push_back({"PrivateUsers", true});
  }
  add_command(properties, spec, files);
  return request;
}

UnitRequest scope_request(const core::Job& job, const core::Settings& settings, const core::CpuList& cpus,
                          const std::vector<std::uint32_t>& pids, ManagerScope manager) {
  UnitRequest request{.name = core::job_unit(job), .properties = {}, .auxiliary = {slice_of(job, settings, cpus)}};
  add_unit_basics(request.properties, job, settings, manager);
  request.properties.push_back({"PIDs", pids});
  return request;
}

std::vector<UnitProperty> slice_properties(const core::Job& job, const core::JobClass* job_class,
                                           const core::CpuList& cpus) {
  const core::Limits& limits = job.spec.limits;
  Properties properties{{"Description", description(job)}};
  properties.push_back({"DefaultDependencies", false});  // at a shutdown it goes with the slice of its class
  add_accounting(properties);
  core::Limits resolved = limits;
  if (!resolved.memory && !resolved.memory_max && job_class != nullptr) resolved.memory = job_class->default_memory;
  add_memory(properties, resolved);
  if (limits.tasks_max) properties.push_back({"TasksMax", *limits.tasks_max});
  // Always: jobs of a class share the CPU by job only if one of them has a CPU setting, else by process.
  properties.push_back({"CPUWeight", limits.cpu_weight.value_or(default_weight)});
  if (limits.io_weight) properties.push_back({"IOWeight", *limits.io_weight});
  if (limits.cpu_quota_percent) {
    properties.push_back({"CPUQuotaPerSecUSec", cpu_usec_per_second(*limits.cpu_quota_percent)});
  }
  if (!cpus.empty()) properties.push_back(allowed_cpus(cpus));
  return properties;
}

UnitProperty allowed_cpus(const core::CpuList& cpus) { return {"AllowedCPUs", cpu_mask(cpus)}; }

std::vector<UnitProperty> changed_slice_properties(const core::Limits& changes) {
  Properties properties;
  if (changes.memory || changes.memory_max) properties.push_back({"MemoryMax", core::memory_ceiling(changes)});
  if (changes.memory_high) properties.push_back({"MemoryHigh", *changes.memory_high});
  if (changes.swap_max) properties.push_back({"MemorySwapMax", *changes.swap_max});
  if (changes.tasks_max) properties.push_back({"TasksMax", *changes.tasks_max});
  if (changes.cpu_weight) properties.push_back({"CPUWeight", *changes.cpu_weight});
  if (changes.io_weight) properties.push_back({"IOWeight", *changes.io_weight});
  if (changes.cpu_quota_percent) {
    properties.push_back({"CPUQuotaPerSecUSec", cpu_usec_per_second(*changes.cpu_quota_percent)});
  }
  if (changes.cpu_list) {
    properties.push_back(allowed_cpus(core::parse_cpu_list(*changes.cpu_list).value_or(core::CpuList{})));
  }
  return properties;
}

UnitProperty memory_low(core::Bytes amount) { return {"MemoryLow", amount}; }

UnitRequest class_slice_request(const core::JobClass& job_class) {
  return {.name = core::class_slice(job_class.name), .properties = class_slice_properties(job_class), .auxiliary = {}};
}

std::vector<UnitProperty> class_slice_properties(const core::JobClass& job_class) {
  Properties properties{{"Description", "mljobd jobs of class " + job_class.name}};
  add_accounting(properties);
  properties.push_back({"CPUWeight", job_class.cpu_weight});
  properties.push_back({"IOWeight", job_class.io_weight});
  return properties;
}

std::vector<UnitProperty> root_slice_properties(core::Bytes memory_max) {
  Properties properties;
  add_accounting(properties);
  properties.push_back({"MemoryMax", memory_max});
  return properties;
}

}  // namespace mljobd::systemd
