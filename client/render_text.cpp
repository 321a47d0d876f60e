#include "client/render_text.hpp"

#include <array>
#include <ctime>

#include "client/values.hpp"
#include "core/format.hpp"

namespace mljobd::client {
namespace {

bool is_size(std::string_view key) {
  return key.starts_with("memory") || key == "swap_max" || key == "private_shm" || key == "limit" || key == "peak" ||
         key == "shmem";
}

}  // namespace

std::string format_time(std::uint64_t microseconds) {
  if (microseconds == 0) return "-";
  const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
  std::tm local = {};
  if (::localtime_r(&seconds, &local) == nullptr) return "-";
  std::array<char, 32> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return std::string(text.data(), length);
}

std::string format_limit(std::string_view key, const core::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.storage)) return harmless(*text);
  if (key == "cpu_quota_percent") {
    const auto percent = integer_from<std::uint32_t>(value).value_or(UINT32_MAX);
    return percent == UINT32_MAX ? "unlimited" : std::to_string(percent) + "%";
  }
  if (const auto number = integer_from<std::uint64_t>(value)) {
    if (*number == core::unlimited) return "unlimited";
    if (is_size(key)) return core::format_bytes(*number);
    if (key == "time_limit" || key == "stop_timeout") {
      return core::format_duration(core::Microseconds(static_cast<std::int64_t>(*number)));
    }
    return std::to_string(*number);
  }
  const auto number = integer_from<std::int64_t>(value);
  return number ? std::to_string(*number) : "?";
}

std::string describe_state(const JobRow& row) {
  if (!is_finished(row)) {
    const bool says_more = !row.reason.empty() && row.reason != "Held";
    return says_more ? row.state + ": " + harmless(row.reason) : row.state;
  }
  std::string text = row.result;
  const std::string what = text_or_empty(row.cause, "what");
  if (!what.empty() && what != row.result) text += " (" + what + ")";
  if (row.exit_signal != 0) {
    text += ", killed by signal " + std::to_string(row.exit_signal);
  } else if (row.exit_code >= 0) {
    text += ", exit code " + std::to_string(row.exit_code);
  }
  return text;
}

Colour state_colour(const JobRow& row) {
  if (is_finished(row)) {
    if (row.result == "done") return Colour::green;
    return row.result == "cancelled" ? Colour::grey : Colour::red;
  }
  if (row.state == "running") return Colour::bold;
  return row.state == "queued" ? Colour::none : Colour::yellow;
}

std::string harmless(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || c == '\r') {
      result.push_back(' ');
    } else {
      result.push_back(byte < 0x20 || byte == 0x7F ? '?' : c);
    }
  }
  return result;
}

}  // namespace mljobd::client
