#include "client/environment.hpp"

#include <algorithm>
#include <map>

#include <unistd.h>

#include "client/units.hpp"
#include "core/format.hpp"

namespace mljobd::client {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

bool belongs_to_caller(std::string_view name) {
  return name == "_" || name == "SHLVL" || name == "OLDPWD" || name.starts_with("MLJOB_") || name.starts_with("SLURM_");
}

Variables split_variables(const std::vector<std::string>& environment) {
  Variables variables;
  for (const auto& entry : environment) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

void add_all(const Variables& from, Variables& chosen, std::vector<std::string>& left_out) {
  for (const auto& [name, value] : from) {
    if (belongs_to_caller(name)) continue;
    if (is_utf8(name) && is_utf8(value)) {
      chosen.insert_or_assign(name, value);
    } else {
      left_out.push_back(name);
    }
  }
}

Outcome<void> add_one(std::string_view entry, const Variables& from, Variables& chosen) {
  const auto equals = entry.find('=');
  const std::string name(entry.substr(0, equals));
  if (name.empty()) return usage_failure("--export: \"" + std::string(entry) + "\" has no variable name");
  const auto found = from.find(name);
  if (equals == std::string_view::npos && found == from.end()) {
    return usage_failure("--export: " + name + " is not set; write " + name + "=value, or export it first");
  }
  std::string value = equals == std::string_view::npos ? found->second : std::string(entry.substr(equals + 1));
  if (!is_utf8(name) || !is_utf8(value)) return usage_failure("--export: the value of " + name + " is not UTF-8");
  chosen.insert_or_assign(name, std::move(value));
  return {};
}

}  // namespace

Outcome<SelectedEnvironment> select_environment(const std::vector<std::string>& exports,
                                                const std::vector<std::string>& environment) {
  const auto own = split_variables(environment);
  Variables chosen;
  SelectedEnvironment selected;
  if (exports.empty()) add_all(own, chosen, selected.left_out);
  for (const auto& list : exports) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      const auto entry = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
      if (entry.empty() || entry == "NONE") continue;
      if (entry == "ALL") {
        add_all(own, chosen, selected.left_out);
      } else if (auto added = add_one(entry, own, chosen); !added) {
        return tl::unexpected(added.error());
      }
    }
  }
  for (const auto& [name, value] : chosen) selected.variables.push_back(name + "=" + value);
  return selected;
}

std::string largest_variable(const std::vector<std::string>& variables) {
  const auto largest = std::max_element(variables.begin(), variables.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (largest == variables.end()) return "";
  return largest->substr(0, largest->find('=')) + " (" + core::format_bytes(largest->size()) + ")";
}

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

}  // namespace mljobd::client
