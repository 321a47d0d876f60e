#include "core/limit_check.hpp"

#include <string_view>

#include "core/format.hpp"

namespace mljobd::core {
namespace {

// The kernel counts memory in pages, of 64 KiB at most on the machines that systemd supports, and rounds down.
constexpr Bytes largest_page = Bytes{64} * 1024;

std::string number(std::uint64_t value) { return value == unlimited ? "unlimited" : std::to_string(value); }
std::string quota(std::uint32_t percent) {
  return percent == unlimited_quota ? "no quota" : std::to_string(percent) + "%";
}

std::string not_enforced(std::string_view what, std::string_view asked, std::string_view controller) {
  return std::string(what)
      .append(" ")
      .append(asked)
      .append(" was asked for, but nothing enforces it: the ")
      .append(controller)
      .append(" controller is not delegated to this service manager; `jobctl doctor` says how to mend that");
}

std::string different(std::string_view what, std::string_view asked, std::string_view in_force) {
  return std::string(what)
      .append(" ")
      .append(asked)
      .append(" was asked for, but ")
      .append(in_force)
      .append(" is in force: something else changed it; set it again with `jobctl set`");
}

bool same_memory(Bytes asked, Bytes in_force) {
  return asked == in_force || (in_force < asked && asked != unlimited && asked - in_force < largest_page);
}

class Comparison {
 public:
  void memory(std::string_view what, Bytes asked, const std::optional<Bytes>& in_force) {
    if (!in_force) {
      warnings_.push_back(not_enforced(what, format_bytes(asked), "memory"));
    } else if (!same_memory(asked, *in_force)) {
      warnings_.push_back(different(what, format_bytes(asked), format_bytes(*in_force)));
    }
  }

  template <class Number>
  void count(std::string_view what, std::string_view controller, const std::optional<Number>& asked,
             const std::optional<Number>& in_force, std::string (*shown)(Number)) {
    if (!asked) return;
    if (!in_force) {
      warnings_.push_back(not_enforced(what, shown(*asked), controller));
    } else if (*asked != *in_force) {
      warnings_.push_back(different(what, shown(*asked), shown(*in_force)));
    }
  }

  void cpus(const Limits& limits, const CpuList& meant, const std::optional<std::string>& in_force) {
    const std::string key = limits.cpus > 0 ? "cpus" : "cpu_list";
    if (meant.empty()) return;
    const std::string text = format_cpu_list(meant);
    if (!in_force) {
      warnings_.push_back(not_enforced(key, text, "cpuset"));
      return;
    }
    // Two ways of writing the same CPUs are no difference.
    const auto cpus_in_force = parse_cpu_list(*in_force);
    if (!cpus_in_force || meant != *cpus_in_force) {
      warnings_.push_back(different(key, text, in_force->empty() ? "no CPU" : *in_force));
    }
  }

  void add(std::string warning) { warnings_.push_back(std::move(warning)); }

  [[nodiscard]] std::vector<std::string> take() && { return std::move(warnings_); }

 private:
  std::vector<std::string> warnings_;
};

template <class T>
void put(ValueMap& map, std::string_view key, const std::optional<T>& value) {
  if (value) map.emplace(key, *value);
}

void compare_memory(Comparison& comparison, const Limits& limits, const EffectiveLimits& effective) {
  const Bytes ceiling = memory_ceiling(limits);
  // Without the controller only what was asked for is missed; with it, a ceiling that nobody asked for is noticed too.
  if (ceiling != unlimited || effective.memory_max) comparison.memory("memory_max", ceiling, effective.memory_max);
  if (limits.memory_high) comparison.memory("memory_high", *limits.memory_high, effective.memory_high);
  if (effective.swap_max || limits.swap_max) {
    comparison.memory("swap_max", limits.swap_max.value_or(0), effective.swap_max);
  } else if (effective.memory_max && ceiling != unlimited) {
    comparison.add("the job can go beyond its memory limit by swapping: this kernel does not account swap per cgroup");
  }
}

}  // namespace

ValueMap effective_view(const EffectiveLimits& effective) {
  ValueMap view;
  put(view, "memory_max", effective.memory_max);
  put(view, "memory_high", effective.memory_high);
  if (effective.memory_low.value_or(0) > 0) put(view, "memory_low", effective.memory_low);
  put(view, "swap_max", effective.swap_max);
  put(view, "tasks_max", effective.tasks_max);
  put(view, "cpu_weight", effective.cpu_weight);
  put(view, "io_weight", effective.io_weight);
  put(view, "cpu_quota_percent", effective.cpu_quota_percent);
  put(view, "cpu_list", effective.cpu_list);
  return view;
}

std::vector<std::string> limit_warnings(const JobSpec& spec, const JobClass* job_class, const CpuList& cpus,
                                        const EffectiveLimits& effective) {
  const Limits& limits = spec.limits;
  Comparison comparison;
  compare_memory(comparison, limits, effective);
  comparison.count("tasks_max", "pids", limits.tasks_max, effective.tasks_max, &number);
  comparison.count("cpu_weight", "cpu", limits.cpu_weight, effective.cpu_weight, &number);
  comparison.count("io_weight", "io", limits.io_weight, effective.io_weight, &number);
  comparison.count("cpu_quota_percent", "cpu", limits.cpu_quota_percent, effective.cpu_quota_percent, &quota);
  comparison.cpus(limits, cpus, effective.cpu_list);
  // The weight of a class is what its jobs count on whether they asked or not. (That of its I/O is not said for each
  // job: where the io controller is missing, as under `systemd --user`, it is for every job, and a problem of the
  // daemon's.)
  if (job_class != nullptr && !limits.cpu_weight && !effective.cpu_weight) {
    comparison.add(not_enforced("the CPU share of class " + job_class->name + ", weight",
                                std::to_string(job_class->cpu_weight), "cpu"));
  }
  return std::move(comparison).take();
}

}  // namespace mljobd::core
