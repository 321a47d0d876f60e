#include "client/spec_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>

#include "client/properties.hpp"

namespace mljobd::client {
namespace {

constexpr auto submit = static_cast<unsigned>(SpecUse::submit);
constexpr auto run = static_cast<unsigned>(SpecUse::run);
constexpr auto adopt = static_cast<unsigned>(SpecUse::adopt);
constexpr auto set = static_cast<unsigned>(SpecUse::set);
constexpr auto jobs = submit | run | adopt;
constexpr auto everywhere = jobs | set;

struct TextOption {
  const char* flags;
  const char* name;  // the long one, bare
  const char* key;   // of the specification
  OptionKind kind;
  unsigned uses;
  const char* value;  // how the help calls what follows
  const char* help;
};

// Never sent: see join_checkpoint.
constexpr const char* grace_key = "checkpoint_grace";

constexpr std::array text_options{
    TextOption{"-J,--name", "name", "name", OptionKind::text, jobs, "NAME", "name of the job; default: the program's"},
    TextOption{"--class", "class", "class", OptionKind::text, jobs, "CLASS",
               "train, validate, batch … (see jobctl classes)"},
    TextOption{"--mem", "mem", "memory", OptionKind::bytes, everywhere, "SIZE",
               "memory to reserve, and the limit: 12G, 512M, 50%"},
    TextOption{"--mem-max", "mem-max", "memory_max", OptionKind::bytes, everywhere, "SIZE",
               "a limit above what --mem reserves"},
    TextOption{"--mem-high", "mem-high", "memory_high", OptionKind::bytes, everywhere, "SIZE",
               "slow the job down above this"},
    TextOption{"--swap-max", "swap-max", "swap_max", OptionKind::bytes, everywhere, "SIZE",
               "swap it may use; default: 0"},
    TextOption{"--tasks-max", "tasks-max", "tasks_max", OptionKind::count, everywhere, "N",
               "processes and threads together"},
    TextOption{"--cpu-weight", "cpu-weight", "cpu_weight", OptionKind::count, everywhere, "1..10000",
               "share of the CPU against the jobs of its class"},
    TextOption{"--cpu-quota", "cpu-quota", "cpu_quota_percent", OptionKind::quota, everywhere, "P%",
               "most CPU it may use: 150% is one core and a half"},
    TextOption{"--io-weight", "io-weight", "io_weight", OptionKind::count, everywhere, "1..10000",
               "share of the disk against the jobs of its class"},
    TextOption{"--cpu-list", "cpu-list", "cpu_list", OptionKind::cpu_list, everywhere, "LIST",
               "logical CPUs it may run on: 0-3,8"},
    TextOption{"-t,--time", "time", "time_limit", OptionKind::duration, everywhere, "TIME",
               "stop it after running so long: 90s, 30m, 2h, 1-12:00:00"},
    TextOption{"--stop-timeout", "stop-timeout", "stop_timeout", OptionKind::duration, jobs, "TIME",
               "from SIGTERM to SIGKILL"},
    TextOption{"--priority", "priority", "priority", OptionKind::number, submit | set, "N",
               "-1000..1000, higher starts first"},
    TextOption{"--nice", "nice", "priority", OptionKind::negated_number, submit | set, "N",
               "the same with the sign of Slurm: higher starts later"},
    TextOption{"-c,--cpus", "cpus", "cpus", OptionKind::cores, jobs, "N",
               "whole processor cores to reserve; default: a share of those that nobody reserved"},
    TextOption{"-d,--after,--dependency", "after", "after", OptionKind::dependencies, submit, "LIST",
               "start after other jobs: ok:42, any:prepare, notok:42, start:42; commas between, all must come true"},
    TextOption{"-a,--array", "array", "array", OptionKind::array, submit, "LIST",
               "one job for each index: 0-15, 1,3,5, 0-30:2; 0-15%4 runs four at a time"},
    TextOption{"--begin", "begin", "begin", OptionKind::moment, submit, "TIME",
               "not before: now+1hour, 22:00, tomorrow, 2026-12-24T22:00"},
    TextOption{"--signal", "signal", "warn_signal", OptionKind::warning, submit, "[B:]SIGNAL[@SECONDS]",
               "send it so long before the time limit (60 s); to the main process"},
    TextOption{"--checkpoint-signal", "checkpoint-signal", "checkpoint_signal", OptionKind::checkpoint, submit,
               "SIGNAL", "send it to the main process before memory runs out, to save its work: USR1"},
    TextOption{"--checkpoint-grace", "checkpoint-grace", grace_key, OptionKind::duration, submit, "TIME",
               "the time that it has for that; default: 60s"},
    TextOption{"--warmup", "warmup", "warmup", OptionKind::duration, jobs, "TIME",
               "what it loads in this time is no growth; default: until it loads no more"},
    TextOption{"--retries", "retries", "max_retries", OptionKind::small_number, submit, "N",
               "start it again so often if it fails"},
    TextOption{"--retry-mem", "retry-mem", "retry_memory_percent", OptionKind::growth, submit, "N.Nx",
               "with --retries and --mem: start it again also if that was too little, each time with so much of it"},
    TextOption{"--key", "key", "key", OptionKind::text, submit, "TEXT",
               "submitting again with the same key gives the same job"},
    TextOption{"--open-mode", "open-mode", "open_mode", OptionKind::open_mode, submit, "append|truncate",
               "keep what is in the files of --output and --error, or not; default: append"},
    TextOption{
        "-o,--output", "output", "output", OptionKind::path, submit, "FILE",
        "append its output to FILE instead of the log that `jobctl logs` reads; %j, %A_%a, %x …: see the manual"},
    TextOption{"-e,--error", "error", "error", OptionKind::path, submit, "FILE", "the same for its standard error"},
    TextOption{"-D,--workdir,--chdir", "workdir", "workdir", OptionKind::path, submit | run, "DIR",
               "directory to start in; default: this one"},
    TextOption{"--oom-policy", "oom-policy", "oom_policy", OptionKind::text, jobs, "kill|continue",
               "when the kernel kills one of its processes: end the job, or let the others go on"},
    TextOption{"--oom-score-adjust", "oom-score-adjust", "oom_score_adjust", OptionKind::number, submit, "N",
               "-1000..1000, not below its class's"},
    TextOption{"--private-shm", "private-shm", "private_shm", OptionKind::bytes, submit, "SIZE",
               "a /dev/shm of its own of this size, freed when it ends"},
    TextOption{"--comment", "comment", "comment", OptionKind::text, jobs, "TEXT", "a note, shown by jobctl status"},
};

bool used_by(const TextOption& option, SpecUse use) { return (option.uses & static_cast<unsigned>(use)) != 0; }

Outcome<void> insert_once(core::ValueMap& spec, std::string_view key, std::string_view option, core::Value value) {
  if (!spec.emplace(key, std::move(value)).second) {
    return usage_failure(std::string(option) + ": the same limit is given twice; say it once");
  }
  return {};
}

Outcome<void> add_properties(SpecUse use, const SpecOptions& options, const Surroundings& around,
                             core::ValueMap& spec) {
  for (const auto& assignment : options.properties) {
    const auto property = parse_property(assignment);
    if (!property) return tl::unexpected(property.error());
    const auto* option = std::find_if(text_options.begin(), text_options.end(),
                                      [&](const TextOption& entry) { return entry.key == property->key.key; });
    const std::string name = "-p " + std::string(property->key.property) + "=";
    if (option != text_options.end() && !used_by(*option, use)) return usage_failure(name + ": not for this command");
    auto added = parse_value(property->key.kind, name, property->value, around).and_then([&](core::Value&& value) {
      return insert_once(spec, property->key.key, name, std::move(value));
    });
    if (!added) return added;
  }
  return {};
}

Outcome<void> add_labels(const SpecOptions& options, core::ValueMap& spec) {
  core::StringMap labels;
  for (const auto& label : options.labels) {
    const auto equals = label.find('=');
    if (equals == std::string::npos || equals == 0 || !is_utf8(label)) {
      return usage_failure("--label " + label + ": write --label KEY=VALUE");
    }
    labels.insert_or_assign(label.substr(0, equals), label.substr(equals + 1));
  }
  if (!labels.empty()) spec.emplace("labels", core::Value(std::move(labels)));
  return {};
}

Outcome<void> add_option(const TextOption& option, const std::string& text, const Surroundings& around,
                         core::ValueMap& spec) {
  const std::string name = std::string("--") + option.name;
  return parse_value(option.kind, name, text, around).and_then([&](core::Value&& value) {
    return insert_once(spec, option.key, name, std::move(value));
  });
}

}  // namespace

void add_spec_options(CLI::App& app, SpecUse use, SpecOptions& options) {
  const std::string group = use == SpecUse::set ? "What to change" : "The job";
  for (const auto& option : text_options) {
    if (!used_by(option, use)) continue;
    auto& texts = options.texts;
    const std::string name = option.name;
    app.add_option_function<std::string>(
           option.flags, [&texts, name](const std::string& text) { texts.insert_or_assign(name, text); }, option.help)
        ->type_name(option.value)
        ->group(group);
  }
  app.add_option("-p,--property", options.properties, "a systemd property, e.g. -p MemoryMax=8G")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  if (use == SpecUse::set) return;
  app.add_option("--label", options.labels, "a label of your own; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--no-park", options.no_park,
               "never stop it to move its memory out to swap: others wait on it through pipes or sockets")
      ->group(group);
  if (use != SpecUse::submit) return;
  app.add_flag_function(
         "--requeue,!--no-requeue", [&options](std::int64_t count) { options.requeue = count > 0; },
         "start it again if a reboot or more important jobs take it away, or not")
      ->group(group);
  app.add_flag("--singleton", options.singleton, "after every earlier job of yours with its name")->group(group);
  app.add_flag("--hold,-H", options.hold, "queue it held; jobctl release lets it go")->group(group);
}

Outcome<core::ValueMap> spec_from(SpecUse use, const SpecOptions& options, const Surroundings& around) {
  core::ValueMap spec;
  for (const auto& option : text_options) {
    const auto text = options.texts.find(option.name);
    if (text == options.texts.end()) continue;
    if (auto added = add_option(option, text->second, around, spec); !added) return tl::unexpected(added.error());
  }
  if (auto added = add_properties(use, options, around, spec); !added) return tl::unexpected(added.error());
  if (auto added = add_labels(options, spec); !added) return tl::unexpected(added.error());
  if (options.requeue) spec.emplace("requeue", core::Value(*options.requeue));
  if (options.singleton) spec.emplace("singleton", core::Value(true));
  if (options.hold) spec.emplace("hold", core::Value(true));
  if (options.no_park) spec.emplace("parkable", core::Value(false));
  return spec;
}

Outcome<void> join_checkpoint(core::ValueMap& spec) {
  const auto grace = spec.find(grace_key);
  if (grace == spec.end()) return {};
  const auto signal = spec.find("checkpoint_signal");
  if (signal == spec.end()) return usage_failure("--checkpoint-grace is of no use without --checkpoint-signal");
  std::get<core::SignalAndTime>(signal->second.storage).second = std::get<std::uint64_t>(grace->second.storage);
  spec.erase(grace);
  return {};
}

Outcome<void> add_spec_option(SpecUse use, std::string_view name, const std::string& text, const Surroundings& around,
                              core::ValueMap& spec) {
  const auto* option = std::find_if(text_options.begin(), text_options.end(),
                                    [&](const TextOption& entry) { return entry.name == name && used_by(entry, use); });
  if (option == text_options.end()) return usage_failure("there is no option " + std::string(name));
  return add_option(*option, text, around, spec);
}

std::vector<std::string_view> spec_option_names(SpecUse use) {
  std::vector<std::string_view> names;
  for (const auto& option : text_options) {
    if (used_by(option, use)) names.emplace_back(option.name);
  }
  return names;
}

}  // namespace mljobd::client
