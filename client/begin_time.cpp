#include "client/begin_time.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"

namespace mljobd::client {
namespace {

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
};

struct Date {
  int year = 0;   // 2026
  int month = 0;  // 1..12
  int day = 0;
};

std::optional<int> number_within(std::string_view digits, int smallest, int largest) {
  const auto number = core::to_number<unsigned>(digits);
  if (!number || !std::in_range<int>(*number)) return std::nullopt;
  const auto value = static_cast<int>(*number);
  return value >= smallest && value <= largest ? std::optional(value) : std::nullopt;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

// The kind of a unit counts, not its number or how far it is spelled out: "h", "hour", "hours".
std::optional<std::int64_t> seconds_of_unit(std::string_view unit) {
  struct Unit {
    std::string_view name;
    std::int64_t seconds;
  };
  constexpr std::array units{Unit{"seconds", 1}, Unit{"minutes", 60}, Unit{"hours", 3600}, Unit{"days", 86400},
                             Unit{"weeks", 604800}};
  if (unit.empty()) return 1;
  for (const auto& [name, seconds] : units) {
    if (name.starts_with(unit)) return seconds;
  }
  return std::nullopt;
}

std::optional<core::RealTime> parse_offset(std::string_view text, core::RealTime now) {
  const auto digits_end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto unit = seconds_of_unit(text.substr(digits_end));
  const auto count = number_within(text.substr(0, digits_end), 0, 1'000'000'000);
  if (!unit || !count) return std::nullopt;
  constexpr std::int64_t ten_years = std::int64_t{3652} * 86400;
  if (*count > ten_years / *unit) return std::nullopt;
  return now + std::chrono::seconds(*count * *unit);
}

std::optional<TimeOfDay> named_time(std::string_view word) {
  if (word == "midnight") return TimeOfDay{};
  if (word == "noon") return TimeOfDay{.hour = 12};
  if (word == "fika") return TimeOfDay{.hour = 15};
  if (word == "teatime") return TimeOfDay{.hour = 16};
  return std::nullopt;
}

std::optional<TimeOfDay> parse_time(std::string_view word) {
  if (const auto named = named_time(word)) return named;
  const bool before_noon = word.ends_with("am");
  const bool after_noon = word.ends_with("pm");
  const bool twelve_hours = before_noon || after_noon;
  if (twelve_hours) word.remove_suffix(2);
  const auto fields = core::split(word, ':');
  if (fields.size() > 3 || (fields.size() < 2 && !twelve_hours)) return std::nullopt;
  const auto hour = number_within(fields[0], twelve_hours ? 1 : 0, twelve_hours ? 12 : 23);
  const auto minute = fields.size() > 1 ? number_within(fields[1], 0, 59) : 0;
  const auto second = fields.size() > 2 ? number_within(fields[2], 0, 59) : 0;
  if (!hour || !minute || !second) return std::nullopt;
  TimeOfDay time{.hour = *hour, .minute = *minute, .second = *second};
  if (twelve_hours) time.hour = *hour % 12 + (after_noon ? 12 : 0);
  return time;
}

std::tm local(core::RealTime moment) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(moment).time_since_epoch().count();
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  return fields;
}

// Empty for a day that no month has. An hour that a change to summer time leaves out becomes the next one.
std::optional<core::RealTime> moment_of(const Date& date, const TimeOfDay& time) {
  std::tm fields{};
  fields.tm_year = date.year - 1900;
  fields.tm_mon = date.month - 1;
  fields.tm_mday = date.day;
  fields.tm_hour = time.hour;
  fields.tm_min = time.minute;
  fields.tm_sec = time.second;
  fields.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&fields);
  if (fields.tm_mon != date.month - 1 || fields.tm_mday != date.day) return std::nullopt;
  return core::RealTime(std::chrono::seconds(seconds));
}

Date days_from(core::RealTime now, int days) {
  std::tm fields = local(now);
  fields.tm_mday += days;
  fields.tm_hour = 12;
  fields.tm_isdst = -1;
  std::mktime(&fields);
  return {.year = fields.tm_year + 1900, .month = fields.tm_mon + 1, .day = fields.tm_mday};
}

std::optional<Date> date_of(std::string_view year, std::string_view month, std::string_view day) {
  const auto parsed_year = number_within(year, 0, 2199);
  const auto parsed_month = number_within(month, 1, 12);
  const auto parsed_day = number_within(day, 1, 31);
  if (!parsed_year || !parsed_month || !parsed_day) return std::nullopt;
  return Date{
      .year = *parsed_year < 100 ? 2000 + *parsed_year : *parsed_year, .month = *parsed_month, .day = *parsed_day};
}

std::optional<Date> parse_date(std::string_view word, core::RealTime now) {
  if (word == "today") return days_from(now, 0);
  if (word == "tomorrow") return days_from(now, 1);
  const Date today = days_from(now, 0);
  if (const auto fields = core::split(word, '-'); fields.size() == 3) return date_of(fields[0], fields[1], fields[2]);
  if (const auto fields = core::split(word, '/'); fields.size() == 3) return date_of(fields[2], fields[0], fields[1]);
  if (const auto fields = core::split(word, '/'); fields.size() == 2) {
    auto date = date_of(std::to_string(today.year), fields[0], fields[1]);
    if (date && std::pair(date->month, date->day) < std::pair(today.month, today.day)) ++date->year;
    return date;
  }
  if (word.size() != 6) return std::nullopt;
  return date_of(word.substr(4), word.substr(0, 2), word.substr(2, 2));
}

std::optional<core::RealTime> parse_moment(std::string_view text, core::RealTime now) {
  const auto separator = text.find_first_of(" t", text.empty() || text.front() != 't' ? 0 : 1);
  // "today", "tomorrow" and "teatime" have a 't' of their own; the one between date and time follows a digit.
  const bool two_parts =
      separator != std::string_view::npos && separator + 1 < text.size() &&
      (text[separator] == ' ' || (separator > 0 && text[separator - 1] >= '0' && text[separator - 1] <= '9'));
  if (two_parts) {
    const auto date = parse_date(text.substr(0, separator), now);
    const auto time = parse_time(text.substr(separator + 1));
    return date && time ? moment_of(*date, *time) : std::nullopt;
  }
  if (text == "today") return now;
  if (const auto time = parse_time(text)) {
    const auto today = moment_of(days_from(now, 0), *time);
    return today && *today > now ? today : moment_of(days_from(now, 1), *time);
  }
  const auto date = parse_date(text, now);
  return date ? moment_of(*date, {}) : std::nullopt;
}

}  // namespace

core::Expected<core::RealTime> parse_begin_time(std::string_view text, core::RealTime now) {
  const std::string lower = lower_case(text);
  const std::string_view rest = lower;
  std::optional<core::RealTime> moment;
  if (rest == "now") {
    moment = now;
  } else if (rest.starts_with("now+")) {
    moment = parse_offset(rest.substr(4), now);
  } else {
    moment = parse_moment(rest, now);
  }
  if (moment) return *moment;
  return core::failure(core::ErrorCode::invalid_spec,
                       core::quoted(text) +
                           " is not a time to begin at: write it as in now+1hour, 22:00, 4:30pm, "
                           "tomorrow, 2026-12-24 or 2026-12-24T22:00");
}

}  // namespace mljobd::client
