// mm/oom_kill.c, dump_oom_summary(): constraint, nodemask, cpuset, mems_allowed, then oom_memcg (or "global_oom"),
// task_memcg, task, pid and uid. The name of the task may contain commas, so the end is read from behind.

#include "core/text.hpp"
#include "systemd/journal.hpp"
#include "systemd/journal_reader.hpp"

namespace mljobd::systemd {
namespace {

constexpr std::string_view start_of_line = "oom-kill:constraint=";
constexpr std::string_view limited_key = ",oom_memcg=";
constexpr std::string_view victim_key = ",task_memcg=";
constexpr std::string_view task_key = ",task=";
constexpr std::string_view pid_key = ",pid=";
constexpr std::string_view uid_key = ",uid=";

std::string_view between(std::string_view line, std::size_t key_at, std::string_view key, std::size_t end) {
  return line.substr(key_at + key.size(), end - key_at - key.size());
}

}  // namespace

std::optional<core::OomKill> parse_oom_kill(std::string_view line) {
  if (!line.starts_with(start_of_line)) return std::nullopt;
  const auto victim_at = line.find(victim_key);
  if (victim_at == std::string_view::npos) return std::nullopt;
  const auto task_at = line.find(task_key, victim_at + victim_key.size());
  const auto pid_at = line.rfind(pid_key);
  const auto uid_at = line.rfind(uid_key);
  if (task_at == std::string_view::npos || pid_at == std::string_view::npos || uid_at == std::string_view::npos) {
    return std::nullopt;
  }
  if (pid_at < task_at + task_key.size() || uid_at < pid_at + pid_key.size()) return std::nullopt;
  const auto pid = core::to_number<std::uint32_t>(between(line, pid_at, pid_key, uid_at));
  if (!pid) return std::nullopt;

  core::OomKill kill;
  kill.victim_cgroup = harmless(between(line, victim_at, victim_key, task_at));
  kill.victim = {*pid, harmless(between(line, task_at, task_key, pid_at))};
  const auto limited_at = line.substr(0, victim_at).find(limited_key);
  if (limited_at != std::string_view::npos)
    kill.limited_cgroup = harmless(between(line, limited_at, limited_key, victim_at));
  return kill;
}

}  // namespace mljobd::systemd
