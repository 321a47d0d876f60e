#include "systemd/journal.hpp"

#include <charconv>
#include <csignal>

#include <sys/wait.h>
#include <systemd/sd-messages.h>

#include "systemd/journal_reader.hpp"

namespace mljobd::systemd {
namespace {

constexpr core::RealTime always{};
constexpr std::size_t longest_sentence = 512;

// The system's manager and a user's name the same things differently.
void match_invocation(JournalReader& journal, const char* message_id, const std::string& invocation_id) {
  const std::string message = std::string("MESSAGE_ID=") + message_id;
  for (const char* field : {"INVOCATION_ID=", "USER_INVOCATION_ID=", "_SYSTEMD_INVOCATION_ID="}) {
    journal.any_of();
    journal.match(message);
    journal.match(field + invocation_id);
  }
}

std::string without_unit(std::string_view message, const std::string& unit) {
  const std::string prefix = unit + ": ";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  return harmless(message.substr(0, longest_sentence));
}

bool is_below(std::string_view cgroup, std::string_view prefix) {
  if (!cgroup.starts_with(prefix)) return false;
  return cgroup.size() == prefix.size() || prefix.ends_with('/') || cgroup[prefix.size()] == '/';
}

std::optional<ExitRecord> read_exit(const JournalReader& journal) {
  ExitRecord record;
  const auto code = journal.field("EXIT_CODE");
  if (code == "exited") record.code = CLD_EXITED;
  if (code == "killed") record.code = CLD_KILLED;
  if (code == "dumped") record.code = CLD_DUMPED;
  const auto status = journal.field("EXIT_STATUS");
  const auto [end, error] = std::from_chars(status.data(), status.data() + status.size(), record.status);
  if (record.code == 0 || error != std::errc{} || end != status.data() + status.size()) return std::nullopt;
  return record;
}

}  // namespace

std::optional<std::string> find_spawn_failure(const std::string& unit, const std::string& invocation_id,
                                              core::UserId owner) {
  if (invocation_id.empty()) return std::nullopt;
  JournalReader journal;
  match_invocation(journal, SD_MESSAGE_SPAWN_FAILED_STR, invocation_id);
  std::optional<std::string> sentence;
  journal.walk_back(always, [&] {
    if (!journal.is_trusted(owner)) return false;
    sentence = without_unit(journal.field("MESSAGE"), unit);
    return true;
  });
  return sentence;
}

std::optional<core::OomKill> find_oom_kill(const std::string& cgroup_prefix, core::RealTime since) {
  JournalReader journal;
  journal.match("_TRANSPORT=kernel");
  std::optional<core::OomKill> found;
  journal.walk_back(since, [&] {
    auto kill = parse_oom_kill(journal.field("MESSAGE"));
    if (!kill || !is_below(kill->victim_cgroup, cgroup_prefix)) return false;
    found = std::move(kill);
    return true;
  });
  return found;
}

bool killed_by_oomd(const std::string& /*unit*/, const std::string& invocation_id, core::RealTime since) {
  if (invocation_id.empty()) return false;
  JournalReader journal;
  match_invocation(journal, SD_MESSAGE_UNIT_OOMD_KILL_STR, invocation_id);
  constexpr core::UserId nobody_else = 0;
  return journal.walk_back(since, [&] { return journal.is_trusted(nobody_else); });
}

std::optional<ExitRecord> find_exit(const std::string& /*unit*/, const std::string& invocation_id) {
  if (invocation_id.empty()) return std::nullopt;
  JournalReader journal;
  match_invocation(journal, SD_MESSAGE_UNIT_PROCESS_EXIT_STR, invocation_id);
  std::optional<ExitRecord> record;
  constexpr core::UserId nobody_else = 0;
  journal.walk_back(always, [&] {
    if (!journal.is_trusted(nobody_else)) return false;
    if (journal.field("MESSAGE").find(": Main process exited") == std::string_view::npos) return false;
    record = read_exit(journal);
    return record.has_value();
  });
  return record;
}

}  // namespace mljobd::systemd
