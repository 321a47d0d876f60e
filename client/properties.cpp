#include "client/properties.hpp"

#include <array>

namespace mljobd::client {
namespace {

constexpr std::array allowed{
    PropertyKey{"MemoryMax", "memory_max", OptionKind::bytes},
    PropertyKey{"MemoryHigh", "memory_high", OptionKind::bytes},
    PropertyKey{"MemorySwapMax", "swap_max", OptionKind::bytes},
    PropertyKey{"TasksMax", "tasks_max", OptionKind::count},
    PropertyKey{"CPUWeight", "cpu_weight", OptionKind::count},
    PropertyKey{"CPUQuota", "cpu_quota_percent", OptionKind::quota},
    PropertyKey{"IOWeight", "io_weight", OptionKind::count},
    PropertyKey{"AllowedCPUs", "cpu_list", OptionKind::cpu_list},
    PropertyKey{"OOMScoreAdjust", "oom_score_adjust", OptionKind::number},
    PropertyKey{"OOMPolicy", "oom_policy", OptionKind::text},
    PropertyKey{"TimeoutStopSec", "stop_timeout", OptionKind::duration},
    PropertyKey{"RuntimeMaxSec", "time_limit", OptionKind::duration},
};

struct OwnedProperty {
  std::string_view property;
  std::string_view instead;  // what the user does about it
};

constexpr std::array owned{
    OwnedProperty{"User", "a job runs as the user who submits it"},
    OwnedProperty{"Group", "a job runs with the groups of the user who submits it"},
    OwnedProperty{"Slice", "the class decides; see --class"},
    OwnedProperty{"Nice", "use --cpu-weight or --class"},
    OwnedProperty{"Environment", "use --export"},
    OwnedProperty{"EnvironmentFile", "use --export"},
    OwnedProperty{"WorkingDirectory", "use --workdir"},
    OwnedProperty{"StandardOutput", "use --output"},
    OwnedProperty{"StandardError", "use --error"},
    OwnedProperty{"Description", "use --comment"},
    OwnedProperty{"Restart", "use --requeue"},
    OwnedProperty{"ExecStart", "the command follows the options"},
    OwnedProperty{"Type", ""},
    OwnedProperty{"RemainAfterExit", ""},
    OwnedProperty{"CollectMode", ""},
    OwnedProperty{"KillMode", ""},
    OwnedProperty{"Delegate", ""},
    OwnedProperty{"ManagedOOMMemoryPressure", ""},
    OwnedProperty{"ManagedOOMSwap", ""},
};

std::string allowed_names() {
  std::string names;
  for (const auto& entry : allowed) names.append(names.empty() ? "" : ", ").append(entry.property);
  return names;
}

}  // namespace

Outcome<ParsedProperty> parse_property(const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) return usage_failure("-p " + assignment + ": write -p Property=value");
  const auto name = std::string_view(assignment).substr(0, equals);
  for (const auto& entry : allowed) {
    if (entry.property == name) return ParsedProperty{.key = entry, .value = assignment.substr(equals + 1)};
  }
  for (const auto& [property, instead] : owned) {
    if (property != name) continue;
    std::string message = "-p " + std::string(name) + "= is mljobd's own and cannot be set";
    if (!instead.empty()) message.append(": ").append(instead);
    return usage_failure(std::move(message));
  }
  return usage_failure("-p " + std::string(name) + "= is not among the properties of a job: " + allowed_names());
}

}  // namespace mljobd::client
