#include "systemd/journal_reader.hpp"

#include <charconv>

#include <unistd.h>

#include "core/text.hpp"

namespace mljobd::systemd {
namespace {

// A machine-wide kill lists every process in the kernel's log: thousands of lines around the one that is looked for.
constexpr std::size_t most_entries = 20000;
constexpr auto longest_walk = std::chrono::milliseconds(250);
constexpr std::size_t entries_between_looks_at_the_clock = 64;

}  // namespace

std::string harmless(std::string_view text) {
  std::string result(text);
  const bool ascii_only = !core::is_valid_utf8(text) || core::has_control_characters(text);
  if (!ascii_only) return result;
  for (char& character : result) {
    if (character < ' ' || character > '~') character = '?';
  }
  return result;
}

JournalReader::JournalReader() {
  sd_journal* journal = nullptr;
  if (sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY) >= 0) journal_.reset(journal);
}

void JournalReader::match(const std::string& field_and_value) {
  if (journal_) sd_journal_add_match(journal_.get(), field_and_value.data(), field_and_value.size());
}

void JournalReader::any_of() {
  if (journal_) sd_journal_add_disjunction(journal_.get());
}

bool JournalReader::walk_back(core::RealTime since, const std::function<bool()>& visit) {
  if (!journal_ || sd_journal_seek_tail(journal_.get()) < 0) return false;
  const auto oldest = static_cast<std::uint64_t>(since.time_since_epoch().count());
  const auto deadline = std::chrono::steady_clock::now() + longest_walk;
  for (std::size_t seen = 0; seen < most_entries && sd_journal_previous(journal_.get()) > 0; ++seen) {
    std::uint64_t time = 0;
    if (sd_journal_get_realtime_usec(journal_.get(), &time) < 0 || time < oldest) return false;
    if (visit()) return true;
    const bool look = seen % entries_between_looks_at_the_clock == 0;
    if (look && std::chrono::steady_clock::now() > deadline) return false;
  }
  return false;
}

std::string_view JournalReader::field(const char* name) const {
  const void* data = nullptr;
  std::size_t length = 0;
  if (sd_journal_get_data(journal_.get(), name, &data, &length) < 0) return {};
  const std::string_view entry(static_cast<const char*>(data), length);
  return entry.substr(std::string_view(name).size() + 1);
}

bool JournalReader::is_trusted(core::UserId owner) const {
  const auto text = field("_UID");
  core::UserId uid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  return uid == 0 || uid == owner || uid == getuid();
}

}  // namespace mljobd::systemd
