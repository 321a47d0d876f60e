#include "store/record_archive.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace mljobd::store {
namespace {

constexpr const char* hex_key = "hex";
constexpr std::string_view hex_digits = "0123456789abcdef";

std::string to_hex(const std::string& bytes) {
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    hex += hex_digits[value >> 4U];
    hex += hex_digits[value & 0xFU];
  }
  return hex;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const auto high = hex_digits.find(hex[i]);
    const auto low = hex_digits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) break;
    bytes += static_cast<char>((high << 4U) | low);
  }
  if (bytes.size() * 2 != hex.size()) throw RecordError("hexadecimal digits were expected");
  return bytes;
}

bool is_utf8(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::type_error&) {  // 316: what the library says of anything but UTF-8
    return false;
  }
}

template <class Enum>
void require(std::optional<Enum> found, std::string_view word, Enum& value) {
  if (!found) throw RecordError("unknown word '" + std::string(word) + "'");
  value = *found;
}

}  // namespace

// A JSON string is UTF-8, a command name that the kernel reports is any bytes.
Json to_json_text(const std::string& text) {
  if (is_utf8(text)) return text;
  return Json{{hex_key, to_hex(text)}};
}

std::string from_json_text(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object()) {
    const auto hex = json.find(hex_key);
    if (hex != json.end() && hex->is_string()) return from_hex(hex->get<std::string>());
  }
  throw RecordError("a text was expected");
}

std::int64_t from_json_signed(const Json& json, std::int64_t lowest, std::int64_t highest) {
  if (!json.is_number_integer()) throw RecordError("a whole number was expected");
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(highest)) {
    throw RecordError("number out of range");
  }
  const auto value = json.get<std::int64_t>();
  if (value < lowest || value > highest) throw RecordError("number out of range");
  return value;
}

std::uint64_t from_json_unsigned(const Json& json, std::uint64_t highest) {
  if (!json.is_number_unsigned()) throw RecordError("a whole number that is not negative was expected");
  const auto value = json.get<std::uint64_t>();
  if (value > highest) throw RecordError("number out of range");
  return value;
}

void enum_from_word(std::string_view word, core::JobKind& value) { require(core::job_kind_from(word), word, value); }
void enum_from_word(std::string_view word, core::OomPolicy& value) {
  require(core::oom_policy_from(word), word, value);
}
void enum_from_word(std::string_view word, core::OpenMode& value) { require(core::open_mode_from(word), word, value); }
void enum_from_word(std::string_view word, core::JobResult& value) {
  require(core::job_result_from(word), word, value);
}
void enum_from_word(std::string_view word, core::StopReason& value) {
  require(core::stop_reason_from(word), word, value);
}
void enum_from_word(std::string_view word, core::DependencyKind& value) {
  require(core::dependency_kind_from(word), word, value);
}
void enum_from_word(std::string_view word, core::WarnSignal::To& value) {
  require(core::warn_signal_to_from(word), word, value);
}
void enum_from_word(std::string_view word, core::CauseKind& value) {
  value = core::cause_kind_from(word).value_or(core::CauseKind::unknown);
}
// The scheduler decides it anew in its next pass.
void enum_from_word(std::string_view word, core::PendingReason& value) {
  value = core::pending_reason_from(word).value_or(core::PendingReason::none);
}

}  // namespace mljobd::store
