#include "config/settings_layer.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "config/config.hpp"
#include "config/fields.hpp"
#include "config/growth_layer.hpp"
#include "config/pressure_layer.hpp"
#include "core/text.hpp"

namespace mljobd::config {
namespace {

using core::JobClass;
using core::Settings;
using std::chrono::hours;
using std::chrono::seconds;

constexpr core::Bytes mebibyte = core::Bytes{1} << 20;
constexpr core::Bytes pebibyte = core::Bytes{1} << 50;
constexpr Range<core::Bytes> job_memory{mebibyte, pebibyte};
constexpr Range<core::Bytes> reserve{64 * mebibyte, pebibyte};
constexpr Range<core::Bytes> log_size{mebibyte, pebibyte};  // no "unlimited": one runaway log fills the disk
constexpr Range<std::int64_t> weight{1, 10000};
constexpr Range<std::int64_t> rank{-1000000, 1000000};
constexpr Range<std::int64_t> running_jobs{0, 1000000};
constexpr Range<std::int64_t> oom_score{1, 1000};
constexpr Range<std::int64_t> quota{1, 1000000};
constexpr Range<std::int64_t> history_jobs{0, 1000000};
constexpr Range<core::Microseconds> stop_timeout{seconds(1), hours(24)};
constexpr Range<core::Microseconds> history_age{hours(1), hours(24 * 36500)};

// `null` takes away what an earlier layer gave.
Checked<void> store_size_in(std::optional<core::Bytes>& target, const Node& value, Range<core::Bytes> range) {
  if (std::holds_alternative<std::nullptr_t>(value.content)) {
    target.reset();
    return {};
  }
  return store_in(target, size_of(value, range));
}

struct ClassChange {
  JobClass job_class{};
  bool remove = false;
};

constexpr Field<ClassChange> class_fields[] = {
    {"name", [](const Node&, ClassChange&) -> Checked<void> { return {}; }},  // read before the others
    {"remove", [](const Node& value, ClassChange& change) { return store_in(change.remove, truth_of(value)); }},
    {"cpu_weight", [](const Node& value,
                      ClassChange& change) { return store_in(change.job_class.cpu_weight, number_of(value, weight)); }},
    {"io_weight", [](const Node& value,
                     ClassChange& change) { return store_in(change.job_class.io_weight, number_of(value, weight)); }},
    {"rank",
     [](const Node& value, ClassChange& change) { return store_in(change.job_class.rank, number_of(value, rank)); }},
    {"max_running",
     [](const Node& value, ClassChange& change) {
       return store_in(change.job_class.max_running, number_of(value, running_jobs));
     }},
    {"oom_score_adjust",
     [](const Node& value, ClassChange& change) {
       return store_in(change.job_class.oom_score_adjust, number_of(value, oom_score));
     }},
    {"default_memory",
     [](const Node& value, ClassChange& change) {
       return store_size_in(change.job_class.default_memory, value, job_memory);
     }},
    {"maximum_memory",
     [](const Node& value, ClassChange& change) {
       return store_size_in(change.job_class.maximum_memory, value, job_memory);
     }},
};

Checked<std::string> name_of(const Node& node) {
  const auto object = object_of(node);
  if (!object) return tl::unexpected(object.error());
  for (const auto& member : **object) {
    if (member.key != "name") continue;
    return class_name_of(member.value).map_error([](Problem found) {
      found.reason = "name: " + found.reason;
      return found;
    });
  }
  return problem(node.line, "a class without a name: give it one, as in {\"name\": \"train\", …}");
}

Checked<void> remove_class(std::vector<JobClass>& classes, std::vector<JobClass>::iterator position, const Node& node) {
  if (std::get<Object>(node.content).size() > 2) {
    return problem(node.line, "a class that is removed has no other keys than name and remove");
  }
  if (position == classes.end()) return problem(node.line, "there is no such class to remove");
  classes.erase(position);
  return {};
}

Checked<void> apply_class(const Node& node, const std::string& name, std::vector<JobClass>& classes) {
  const auto position =
      std::find_if(classes.begin(), classes.end(), [&](const JobClass& known) { return known.name == name; });
  ClassChange change;
  if (position != classes.end()) change.job_class = *position;
  change.job_class.name = name;
  if (auto applied = apply_fields(node, class_fields, change); !applied) return applied;
  if (change.remove) return remove_class(classes, position, node);
  const auto& changed = change.job_class;
  if (changed.default_memory && changed.maximum_memory && *changed.default_memory > *changed.maximum_memory) {
    return problem(node.line, "default_memory is larger than maximum_memory");
  }
  if (position != classes.end()) {
    *position = changed;
  } else {
    classes.push_back(changed);
  }
  return {};
}

Checked<void> apply_classes(const Node& value, Settings& settings) {
  const auto array = array_of(value);
  if (!array) return tl::unexpected(array.error());
  std::map<std::string, std::size_t> lines;
  for (const Node& node : **array) {
    const auto name = name_of(node);
    if (!name) return tl::unexpected(name.error());
    const auto [first, is_new] = lines.emplace(*name, node.line);
    if (!is_new) {
      return problem(node.line, "class '" + *name + "' is given twice, first in line " + std::to_string(first->second));
    }
    if (auto applied = apply_class(node, *name, settings.classes); !applied) {
      return problem(applied.error().line, "class '" + *name + "': " + applied.error().reason);
    }
  }
  if (settings.classes.empty()) return problem(value.line, "no class is left: at least one is needed");
  if (settings.classes.size() > max_classes) {
    return problem(value.line, std::to_string(settings.classes.size()) + " classes are too many: at most " +
                                   std::to_string(max_classes) + " are allowed");
  }
  return {};
}

constexpr Field<Settings> history_fields[] = {
    {"age", [](const Node& value,
               Settings& settings) { return store_in(settings.history_age, duration_of(value, history_age)); }},
    {"jobs", [](const Node& value,
                Settings& settings) { return store_in(settings.history_jobs, number_of(value, history_jobs)); }},
};

constexpr Field<core::Quotas> quota_fields[] = {
    {"queued_jobs",
     [](const Node& value, core::Quotas& quotas) { return store_in(quotas.queued_jobs, number_of(value, quota)); }},
    {"unfinished_jobs_total",
     [](const Node& value, core::Quotas& quotas) {
       return store_in(quotas.unfinished_jobs_total, number_of(value, quota));
     }},
};

constexpr Field<Settings> settings_fields[] = {
    {"default_class",
     [](const Node& value, Settings& settings) { return store_in(settings.default_class, class_name_of(value)); }},
    {"classes", apply_classes},
    {"host_memory_reserve",
     [](const Node& value, Settings& settings) { return store_size_in(settings.host_memory_reserve, value, reserve); }},
    {"log_limit",
     [](const Node& value, Settings& settings) { return store_in(settings.log_limit, size_of(value, log_size)); }},
    {"default_stop_timeout",
     [](const Node& value, Settings& settings) {
       return store_in(settings.default_stop_timeout, duration_of(value, stop_timeout));
     }},
    {"growth", apply_growth},
    {"history", [](const Node& value, Settings& settings) { return apply_fields(value, history_fields, settings); }},
    {"quotas",
     [](const Node& value, Settings& settings) { return apply_fields(value, quota_fields, settings.quotas); }},
    {"pressure", apply_pressure},
};

// Where the layer said it, or where it took the class away.
std::size_t line_of_default_class(const Node& document) {
  std::size_t line = document.line;
  for (const Member& member : std::get<Object>(document.content)) {
    if (member.key == "default_class") return member.value.line;
    if (member.key == "classes") line = member.line;
  }
  return line;
}

}  // namespace

Checked<Settings> apply_layer(const Node& document, Settings base) {
  if (auto applied = apply_fields(document, settings_fields, base); !applied) return tl::unexpected(applied.error());
  if (core::find_class(base, base.default_class) == nullptr) {
    return problem(line_of_default_class(document),
                   "default_class: there is no class " + core::quoted(base.default_class));
  }
  return base;
}

}  // namespace mljobd::config
