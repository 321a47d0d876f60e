#include "kernel/cgroup_parsers.hpp"

#include <charconv>
#include <system_error>

#include "kernel/text.hpp"

namespace mljobd::kernel {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  const std::string_view digits = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<KeyedNumber> take_keyed_number(std::string_view& text) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view key = take_until(line, ' ');
    const auto value = parse_number(line);
    if (!key.empty() && value) return KeyedNumber{.key = key, .value = *value};
  }
  return std::nullopt;
}

FlatKeyed parse_flat_keyed(std::string_view text) {
  FlatKeyed values;
  while (const auto line = take_keyed_number(text)) values.insert_or_assign(std::string(line->key), line->value);
  return values;
}

std::uint64_t value_of(const FlatKeyed& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? 0 : found->second;
}

std::optional<std::uint64_t> parse_limit(std::string_view text) {
  if (trimmed(text) == "max") return core::unlimited;
  return parse_number(text);
}

std::optional<std::uint32_t> parse_cpu_max(std::string_view text) {
  std::string_view rest = trimmed(text);
  const std::string_view quota_word = take_until(rest, ' ');
  if (quota_word == "max") return core::unlimited_quota;
  const auto quota = parse_number(quota_word);
  const auto period = parse_number(rest);
  // The kernel takes no period above a second and no quota that overflows 44 bits: such a text is not its own.
  constexpr std::uint64_t most = std::uint64_t{1} << 44;
  if (!quota || !period || *period == 0 || *period > most || *quota > most) return std::nullopt;
  const std::uint64_t percent = (*quota * 100 + *period / 2) / *period;
  if (percent >= core::unlimited_quota) return std::nullopt;
  return static_cast<std::uint32_t>(percent);
}

std::optional<std::uint64_t> parse_weight(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    constexpr std::string_view general = "default ";
    if (line.starts_with(general)) line.remove_prefix(general.size());
    if (const auto weight = parse_number(line)) return weight;
  }
  return std::nullopt;
}

std::string parse_cpu_list(std::string_view text) { return std::string(trimmed(text)); }

IoTotals parse_io_stat(std::string_view text) {
  IoTotals totals;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    while (!line.empty()) {
      std::string_view value = take_until(line, ' ');
      const std::string_view key = take_until(value, '=');
      const core::Bytes bytes = parse_number(value).value_or(0);
      if (key == "rbytes") totals.read += bytes;
      if (key == "wbytes") totals.written += bytes;
    }
  }
  return totals;
}

core::MemoryEvents parse_memory_events(std::string_view text) {
  const FlatKeyed values = parse_flat_keyed(text);
  return {.max = value_of(values, "max"),
          .oom = value_of(values, "oom"),
          .oom_kill = value_of(values, "oom_kill"),
          .oom_group_kill = value_of(values, "oom_group_kill")};
}

std::vector<std::uint32_t> parse_processes(std::string_view text) {
  std::vector<std::uint32_t> processes;
  text = text.substr(0, text.rfind('\n') + 1);
  while (!text.empty()) {
    const auto pid = parse_number(take_until(text, '\n'));
    constexpr std::uint64_t largest_pid = std::uint64_t{1} << 22;  // PID_MAX_LIMIT
    if (pid && *pid > 0 && *pid <= largest_pid) processes.push_back(static_cast<std::uint32_t>(*pid));
  }
  return processes;
}

}  // namespace mljobd::kernel
