#include "core/spec_validation.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "core/format.hpp"
#include "core/spec_fields.hpp"
#include "core/spec_texts.hpp"
#include "core/text.hpp"

namespace mljobd::core {
namespace {

tl::unexpected<Error> refuse(std::string message) { return failure(ErrorCode::invalid_spec, std::move(message)); }

constexpr std::size_t longest_cpu_list = 64;

std::string class_names(const Settings& settings) {
  std::string names;
  for (const auto& job_class : settings.classes) names.append(names.empty() ? "" : ", ").append(job_class.name);
  return names;
}

Expected<void> check_cpu_list(const std::string& given, const CpuList& available) {
  const auto cpus = parse_cpu_list(given);
  if (!cpus) return tl::unexpected(cpus.error());
  CpuList missing;
  std::set_difference(cpus->begin(), cpus->end(), available.begin(), available.end(), std::back_inserter(missing));
  if (missing.empty()) return {};
  return refuse("cpu_list " + quoted(given) + " names CPU " + printable(format_cpu_list(missing), longest_cpu_list) +
                ", which a job cannot be given on this machine: there are " + format_cpu_list(available) +
                " (what is offline or isolated is not among them)");
}

// The rights and the CPUs behind the values that were given, whatever else the job has.
Expected<void> check_given(const Limits& given, std::optional<std::int32_t> priority,
                           const ValidationContext& context) {
  if (priority.value_or(0) > 0 && !context.privileged) {
    return refuse("priority " + std::to_string(*priority) + " is above 0, which only root may give: use -1000 to 0");
  }
  return given.cpu_list ? check_cpu_list(*given.cpu_list, context.cpus) : Expected<void>{};
}

Expected<void> check_oom_score(const Limits& limits, const JobClass& job_class, const ValidationContext& context) {
  if (context.privileged || !limits.oom_score_adjust || *limits.oom_score_adjust >= job_class.oom_score_adjust) {
    return {};
  }
  return refuse("oom_score_adjust " + std::to_string(*limits.oom_score_adjust) + " is below that of class " +
                job_class.name + ", which only root may give: use " + std::to_string(job_class.oom_score_adjust) +
                " to 1000");
}

Expected<void> check_class_memory(const Limits& limits, const JobClass& job_class) {
  if (!job_class.maximum_memory) return {};
  const auto over = [&](std::string_view key, Bytes asked) {
    return refuse(std::string(key) + " " + format_bytes(asked) + " is above what class " + job_class.name +
                  " allows a job: at most " + format_bytes(*job_class.maximum_memory));
  };
  if (memory_claim(limits) > *job_class.maximum_memory) return over("memory", *limits.memory);
  if (limits.memory_max.value_or(0) > *job_class.maximum_memory) return over("memory_max", *limits.memory_max);
  return {};
}

// How the memory limits go together, and with the machine. job_class is null where the class is not known.
Expected<void> check_memory(const Limits& limits, const JobClass* job_class, const ValidationContext& context) {
  const Bytes claim = memory_claim(limits);
  const Bytes ceiling = memory_ceiling(limits);
  if (claim > ceiling) {
    return refuse("memory " + format_bytes(claim) + " is above memory_max " + format_bytes(ceiling) +
                  ": a job cannot use what is reserved for it; raise memory_max or lower memory");
  }
  if (limits.memory_high && *limits.memory_high != unlimited && *limits.memory_high > ceiling) {
    return refuse("memory_high " + format_bytes(*limits.memory_high) + " is above memory_max " + format_bytes(ceiling) +
                  ", where it would never take effect: lower it");
  }
  if (job_class != nullptr) {
    if (auto checked = check_class_memory(limits, *job_class); !checked) return checked;
  }
  if (claim > context.jobs_memory_max) {
    return failure(ErrorCode::no_capacity, "the job needs " + format_bytes(claim) + "; jobs on this machine may use " +
                                               format_bytes(context.jobs_memory_max) +
                                               " in all: lower its memory (--mem)");
  }
  return {};
}

Expected<void> check_cores(const Limits& limits, const ValidationContext& context) {
  if (limits.cpus == 0) return {};
  if (limits.cpu_list) {
    return refuse("cpus and cpu_list exclude each other: cpus chooses whole cores, cpu_list names CPUs; leave one out");
  }
  if (limits.cpus <= context.cores_for_jobs) return {};
  return failure(ErrorCode::no_capacity,
                 "the job needs " + std::to_string(limits.cpus) + " whole cores; jobs on this machine may reserve " +
                     std::to_string(context.cores_for_jobs) + " in all: lower its cpus (--cpus)");
}

Expected<void> check_warning(const JobSpec& spec) {
  if (!spec.warn_signal) return {};
  if (!spec.time_limit) return refuse("warn_signal comes before a time limit: give one (--time)");
  if (spec.warn_signal->before < *spec.time_limit) return {};
  return refuse("warn_signal would come " + format_duration(spec.warn_signal->before) + " before the time limit of " +
                format_duration(*spec.time_limit) + ": make that time shorter");
}

Expected<void> check_retries(const JobSpec& spec) {
  if (spec.retry_memory_percent == 0) return {};
  if (spec.max_retries == 0) return refuse("retry_memory_percent is of no use without max_retries (--retries)");
  if (!spec.limits.memory) return refuse("retry_memory_percent needs a memory to begin with (--mem)");
  return {};
}

Expected<std::vector<Dependency>> dependencies(const StringPairs& after, const ValidationContext& context) {
  std::vector<Dependency> dependencies;
  for (const auto& [word, reference] : after) {
    const auto kind = dependency_kind_from(word);
    if (!kind) return refuse("after: " + quoted(word) + " does not exist: write 'ok', 'any', 'notok' or 'start'");
    const auto jobs = context.find_jobs(reference);
    if (!jobs) return tl::unexpected(jobs.error());
    for (const auto job : *jobs) dependencies.push_back({.kind = *kind, .job = job});
    if (dependencies.size() > maximum_dependencies) {
      return failure(ErrorCode::limit_exceeded, "the job would wait for more than " +
                                                    std::to_string(maximum_dependencies) +
                                                    " others: let one job wait for them, and this one for that");
    }
  }
  return dependencies;
}

// A class's default is for jobs that name nothing: it never contradicts the ceiling that the job did name.
void apply_class_memory(Limits& limits, const JobClass& job_class) {
  if (!limits.memory && job_class.default_memory) {
    const Bytes most = std::min(memory_ceiling(limits), job_class.maximum_memory.value_or(unlimited));
    limits.memory = std::min(*job_class.default_memory, most);
  }
  if (memory_ceiling(limits) == unlimited && !limits.memory_max) limits.memory_max = job_class.maximum_memory;
}

Expected<const JobClass*> class_of(JobSpec& spec, const Settings& settings) {
  if (spec.class_name.empty()) spec.class_name = settings.default_class;
  const JobClass* const job_class = find_class(settings, spec.class_name);
  if (job_class == nullptr) {
    return refuse("class " + quoted(spec.class_name) + " does not exist: choose one of " + class_names(settings));
  }
  return job_class;
}

bool touches_memory(const Limits& limits) { return limits.memory || limits.memory_max || limits.memory_high; }

template <class T>
void replace_if_given(std::optional<T>& target, const std::optional<T>& given) {
  if (given) target = given;
}

}  // namespace

Expected<JobSpec> validate_spec(const ValueMap& values, const ValidationContext& context) {
  auto draft = read_spec_fields(values, SpecUse::submission, context.kind);
  if (!draft) return tl::unexpected(std::move(draft).error());
  JobSpec& spec = draft->spec;
  if (spec.command.empty()) return refuse("command is missing: give the program to run and its arguments");
  if (spec.workdir.empty() && spec.kind == JobKind::batch) {
    return refuse("workdir is missing: give the absolute path of the folder to run in");
  }
  if (spec.name.empty()) spec.name = default_job_name(spec.command.front());
  spec.priority = draft->priority.value_or(0);
  if (auto checked = check_given(spec.limits, draft->priority, context); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  const auto job_class = class_of(spec, context.settings);
  if (!job_class) return tl::unexpected(job_class.error());
  if (auto checked = check_oom_score(spec.limits, **job_class, context); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  apply_class_memory(spec.limits, **job_class);
  if (auto checked = check_memory(spec.limits, *job_class, context); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  if (auto checked = check_cores(spec.limits, context); !checked) return tl::unexpected(std::move(checked).error());
  if (auto checked = check_warning(spec); !checked) return tl::unexpected(std::move(checked).error());
  if (auto checked = check_retries(spec); !checked) return tl::unexpected(std::move(checked).error());
  auto after = dependencies(draft->after, context);
  if (!after) return tl::unexpected(std::move(after).error());
  spec.after = std::move(*after);
  return std::move(spec);
}

Expected<LimitChange> validate_limit_change(const ValueMap& changes, const ValidationContext& context) {
  if (changes.empty()) return refuse("no limit is given: name at least one to change");
  auto draft = read_spec_fields(changes, SpecUse::limit_change, context.kind);
  if (!draft) return tl::unexpected(std::move(draft).error());
  const Limits& limits = draft->spec.limits;
  if (auto checked = check_given(limits, draft->priority, context); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  if (auto checked = check_memory(limits, nullptr, context); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  return LimitChange{.limits = limits, .time_limit = draft->spec.time_limit, .priority = draft->priority};
}

Expected<JobSpec> apply_limit_change(const JobSpec& spec, const LimitChange& change, const ValidationContext& context) {
  JobSpec changed = spec;
  Limits& limits = changed.limits;
  replace_if_given(limits.memory, change.limits.memory);
  replace_if_given(limits.memory_max, change.limits.memory_max);
  replace_if_given(limits.memory_high, change.limits.memory_high);
  replace_if_given(limits.swap_max, change.limits.swap_max);
  replace_if_given(limits.tasks_max, change.limits.tasks_max);
  replace_if_given(limits.cpu_weight, change.limits.cpu_weight);
  replace_if_given(limits.io_weight, change.limits.io_weight);
  replace_if_given(limits.cpu_quota_percent, change.limits.cpu_quota_percent);
  replace_if_given(limits.cpu_list, change.limits.cpu_list);
  replace_if_given(changed.time_limit, change.time_limit);
  changed.priority = change.priority.value_or(spec.priority);
  if (change.limits.cpu_list) {
    if (auto checked = check_cores(limits, context); !checked) return tl::unexpected(std::move(checked).error());
  }
  // Memory that a stricter configuration would refuse today must not stand in the way of changing something else.
  if (touches_memory(change.limits)) {
    const JobClass* const job_class = find_class(context.settings, spec.class_name);
    if (auto checked = check_memory(limits, job_class, context); !checked) {
      return tl::unexpected(std::move(checked).error());
    }
  }
  return changed;
}

}  // namespace mljobd::core
