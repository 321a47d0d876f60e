#include "client/script/slurm_values.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/format.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

constexpr core::Bytes mebibyte = core::Bytes{1} << 20;

tl::unexpected<core::Error> refuse(std::string_view text, std::string_view reason) {
  return core::failure(core::ErrorCode::invalid_spec, core::quoted(text).append(" ").append(reason));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool equal_but_for_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

// The fields between colons, each of at most nine digits; empty where one is not a number.
std::optional<std::vector<std::uint32_t>> clock_fields(std::string_view text) {
  std::vector<std::uint32_t> fields;
  for (const auto digits : core::split(text, ':')) {
    const auto number = digits.size() <= 9 ? core::to_number<std::uint32_t>(digits) : std::nullopt;
    if (!number) return std::nullopt;
    fields.push_back(*number);
  }
  return fields;
}

// Days, hours, minutes, seconds.
using Clock = std::array<std::uint64_t, 4>;

std::optional<Clock> parse_clock(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) {
    const auto fields = clock_fields(text);
    if (!fields || fields->size() > 3) return std::nullopt;
    if (fields->size() == 1) return Clock{0, 0, fields->at(0), 0};
    if (fields->size() == 2) return Clock{0, 0, fields->at(0), fields->at(1)};
    return Clock{0, fields->at(0), fields->at(1), fields->at(2)};
  }
  const auto days = clock_fields(text.substr(0, dash));
  auto fields = clock_fields(text.substr(dash + 1));
  if (!days || days->size() != 1 || !fields || fields->size() > 3) return std::nullopt;
  fields->resize(3);
  return Clock{days->at(0), fields->at(0), fields->at(1), fields->at(2)};
}

}  // namespace

core::Expected<core::Bytes> parse_slurm_memory(std::string_view text) {
  constexpr std::string_view usage = "is not an amount of memory: write a whole number of megabytes, or 16G";
  if (text.empty() || !is_digit(text.front()) || text.find_first_of(".%") != std::string_view::npos) {
    return refuse(text, usage);
  }
  if (std::all_of(text.begin(), text.end(), is_digit)) {
    const auto megabytes = core::to_number<std::uint64_t>(text);
    if (!megabytes || *megabytes > core::unlimited / mebibyte) return refuse(text, "is more than there can be");
    return *megabytes * mebibyte;
  }
  auto size = text;
  const bool with_byte =
      size.size() > 2 && (size.back() == 'B' || size.back() == 'b') && !is_digit(size[size.size() - 2]);
  if (with_byte) size.remove_suffix(1);
  // "512B" is a size for jobctl but not for Slurm.
  if (size.back() == 'B' || size.back() == 'b') return refuse(text, usage);
  const auto bytes = core::parse_bytes(size, std::nullopt);
  if (!bytes) return refuse(text, usage);
  return *bytes;
}

core::Expected<std::optional<core::Microseconds>> parse_slurm_time(std::string_view text) {
  if (equal_but_for_case(text, "unlimited") || equal_but_for_case(text, "infinite")) return std::nullopt;
  const auto clock = parse_clock(text);
  if (!clock) {
    return refuse(text, "is not a time limit: write minutes, m:s, h:m:s, d-h, d-h:m or d-h:m:s");
  }
  const auto [days, hours, minutes, seconds] = *clock;
  const std::uint64_t total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
  if (total == 0) return std::nullopt;
  constexpr std::uint64_t ten_years = std::uint64_t{3652} * 86400;
  if (total > ten_years) return refuse(text, "is longer than ten years; write UNLIMITED for no limit");
  return core::Microseconds(std::chrono::minutes((total + 59) / 60));
}

core::Expected<std::uint32_t> parse_slurm_nodes(std::string_view text) {
  const auto dash = text.find('-');
  const auto least = core::to_number<std::uint32_t>(text.substr(0, dash));
  const auto most = dash == std::string_view::npos ? least : core::to_number<std::uint32_t>(text.substr(dash + 1));
  if (!least || !most || *least == 0 || *most < *least) return refuse(text, "is not a number of nodes: write 1");
  return *least;
}

core::Expected<std::uint32_t> parse_slurm_count(std::string_view text) {
  const auto number = core::to_number<std::uint32_t>(text);
  if (!number || *number == 0 || *number > core::maximum_cpu + 1) {
    return refuse(text, "is not a whole number from 1 to " + std::to_string(core::maximum_cpu + 1));
  }
  return *number;
}

core::Expected<std::int32_t> parse_slurm_nice(std::string_view text) {
  constexpr std::int32_t usual = 100;
  constexpr std::int32_t most = 1000;
  const auto nice = text.empty() ? std::optional(usual) : core::to_number<std::int32_t>(text);
  if (!nice) return refuse(text, "is not a whole number");
  return -std::clamp(*nice, -most, most);
}

std::string usable_job_name(std::string_view name) {
  std::string usable(name);
  std::replace(usable.begin(), usable.end(), '/', '_');
  const bool taken_for_something_else =
      usable.starts_with('-') || usable.starts_with('@') || std::all_of(usable.begin(), usable.end(), is_digit);
  return taken_for_something_else ? "job-" + usable : usable;
}

}  // namespace mljobd::client
