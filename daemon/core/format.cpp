#include "core/format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "core/text.hpp"

namespace mljobd::core {
namespace {

constexpr std::string_view size_units = "KMGTPE";

constexpr std::uint64_t millisecond = 1000;
constexpr std::uint64_t second = 1000 * millisecond;
constexpr std::uint64_t minute = 60 * second;
constexpr std::uint64_t hour = 60 * minute;
constexpr std::uint64_t day = 24 * hour;

bool is_digit(char character) { return character >= '0' && character <= '9'; }

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

// Kept as digits, so that nothing is lost to floating point.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
};

std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal decimal{.whole = take_digits(text), .fraction = {}};
  if (decimal.whole.empty()) return std::nullopt;
  if (!text.starts_with('.')) return decimal;
  text.remove_prefix(1);
  decimal.fraction = take_digits(text);
  if (decimal.fraction.empty()) return std::nullopt;
  return decimal;
}

// decimal * scale, rounded down; empty when it does not fit. scale is at most 2^60.
std::optional<std::uint64_t> multiply(const Decimal& decimal, std::uint64_t scale) {
  const auto whole = to_number<std::uint64_t>(decimal.whole);
  std::uint64_t result = 0;
  if (!whole || __builtin_mul_overflow(*whole, scale, &result)) return std::nullopt;
  std::uint64_t part = 0;
  for (auto digit = decimal.fraction.rbegin(); digit != decimal.fraction.rend(); ++digit) {
    part = (part + static_cast<std::uint64_t>(*digit - '0') * scale) / 10;
  }
  if (__builtin_add_overflow(result, part, &result)) return std::nullopt;
  return result;
}

tl::unexpected<Error> refuse(std::string message) { return failure(ErrorCode::invalid_spec, std::move(message)); }

tl::unexpected<Error> not_a_size(std::string_view text) {
  return refuse(quoted(text) + " is not a size: write a number with its unit, as in 512M, 12G or 1.5G");
}

tl::unexpected<Error> not_a_duration(std::string_view text) {
  return refuse(quoted(text) + " is not a duration: write it as in 90s, 30m, 1h30m, 2d, 12:00:00 or 1-12:00:00");
}

Expected<Bytes> parse_percentage(std::string_view text, const Decimal& decimal, std::optional<Bytes> total_memory) {
  if (!total_memory) return refuse(quoted(text) + " is a share of something unknown here: write a size, as in 12G");
  const auto hundredfold = multiply(decimal, *total_memory);
  if (!hundredfold || *hundredfold / 100 > *total_memory) {
    return refuse(quoted(text) + " is more than the whole memory of this machine (" + format_bytes(*total_memory) +
                  "): write at most 100%");
  }
  return *hundredfold / 100;
}

// The factor of a unit letter; empty for a letter that is none.
std::optional<Bytes> size_unit(char letter) {
  if (letter == 'B' || letter == 'b') return 1;
  const char upper = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  const auto position = size_units.find(upper);
  if (position == std::string_view::npos) return std::nullopt;
  return Bytes{1} << (10 * (position + 1));
}

Expected<Microseconds> to_duration(std::string_view text, std::optional<std::uint64_t> microseconds) {
  constexpr auto longest = static_cast<std::uint64_t>(Microseconds::max().count());
  if (!microseconds || *microseconds > longest) return refuse(quoted(text) + " is longer than anything here can last");
  return Microseconds(static_cast<Microseconds::rep>(*microseconds));
}

// One field of a clock form, at most two digits' worth below the bound.
std::optional<std::uint64_t> clock_field(std::string_view field, std::uint64_t bound) {
  const auto number = field.empty() ? std::nullopt : to_number<std::uint64_t>(field);
  if (!number || *number >= bound) return std::nullopt;
  return number;
}

// "h:m:s", "d-h", "d-h:m", "d-h:m:s".
Expected<Microseconds> parse_clock(std::string_view text) {
  constexpr std::uint64_t any = 1'000'000;  // days or hours: far beyond use, far below overflow
  std::string_view rest = text;
  std::uint64_t total = 0;
  const auto dash = rest.find('-');
  const bool with_days = dash != std::string_view::npos;
  if (with_days) {
    const auto days = clock_field(rest.substr(0, dash), any);
    if (!days) return not_a_duration(text);
    total = *days * day;
    rest.remove_prefix(dash + 1);
  }
  const auto fields = split(rest, ':');
  if (fields.size() > 3) return not_a_duration(text);
  constexpr std::array units{hour, minute, second};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::uint64_t bound = i > 0 ? 60 : with_days ? 24 : any;
    const auto number = clock_field(fields[i], bound);
    if (!number) return not_a_duration(text);
    total += *number * units[i];
  }
  if (!with_days && fields.size() == 2) {
    const std::string first(fields[0]);
    const std::string second_field(fields[1]);
    return refuse(quoted(text) + " has two readings: write " + first + "m" + second_field +
                  "s (as Slurm reads it) or " + first + "h" + second_field + "m (as a clock does)");
  }
  return to_duration(text, total);
}

// The factor of the unit that text starts with, which is taken off; longer names first, since "m" begins three.
std::optional<std::uint64_t> take_time_unit(std::string_view& text) {
  struct Unit {
    std::string_view name;
    std::uint64_t factor;
  };
  constexpr std::array units{Unit{"min", minute}, Unit{"ms", millisecond}, Unit{"us", 1},     Unit{"w", 7 * day},
                             Unit{"d", day},      Unit{"h", hour},         Unit{"m", minute}, Unit{"s", second}};
  for (const auto& unit : units) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return unit.factor;
  }
  return std::nullopt;
}

std::string two_digits(std::uint64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

}  // namespace

std::string format_bytes(Bytes bytes) {
  if (bytes == unlimited) return "unlimited";
  if (bytes < 1024) return std::to_string(bytes) + "B";
  std::size_t unit = 0;
  Bytes scale = 1024;
  while (bytes / scale >= 1024) {
    scale *= 1024;
    ++unit;
  }
  Bytes tenths = bytes / scale * 10 + (bytes % scale * 10 + scale / 2) / scale;
  if (tenths >= 10240) {  // 1023.96M is 1.0G
    tenths = 10;
    ++unit;
  }
  std::string text = std::to_string(tenths / 10);
  const bool always_with_tenth = size_units[unit] != 'K' && size_units[unit] != 'M';
  if (always_with_tenth || tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
  return text + size_units[unit];
}

std::string format_duration(Microseconds duration) {
  const auto total = static_cast<std::uint64_t>(std::max<Microseconds::rep>(duration.count(), 0));
  if (total >= day) return std::to_string(total / day) + "d" + two_digits(total % day / hour) + "h";
  if (total >= hour) return std::to_string(total / hour) + "h" + two_digits(total % hour / minute) + "m";
  if (total >= minute) return std::to_string(total / minute) + "m" + two_digits(total % minute / second) + "s";
  if (total >= second || total < millisecond) return std::to_string(total / second) + "s";
  return std::to_string(total / millisecond) + "ms";
}

std::string format_time(RealTime time) {
  // The calendar's years end at 32767, those that a person means long before.
  constexpr RealTime last = std::chrono::sys_days(std::chrono::year(10000) / 1 / 1) - Microseconds(1);
  const RealTime shown = std::clamp(time, RealTime{}, last);
  const auto midnight = std::chrono::floor<std::chrono::days>(shown);
  const std::chrono::year_month_day date{midnight};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(shown - midnight)};
  const auto field = [](auto number) { return two_digits(static_cast<std::uint64_t>(number)); };
  return std::to_string(static_cast<int>(date.year())) + "-" + field(static_cast<unsigned>(date.month())) + "-" +
         field(static_cast<unsigned>(date.day())) + " " + field(clock.hours().count()) + ":" +
         field(clock.minutes().count()) + ":" + field(clock.seconds().count()) + " UTC";
}

Expected<Bytes> parse_bytes(std::string_view text, std::optional<Bytes> total_memory) {
  if (text == "unlimited" || text == "infinity") return unlimited;
  std::string_view rest = text;
  const auto decimal = take_decimal(rest);
  if (!decimal) return not_a_size(text);
  if (rest.empty()) {
    const std::string number(text.substr(0, 20));
    return refuse(quoted(text) + " has no unit: write " + number + "M (as Slurm reads it) or " + number +
                  "B (as systemd does)");
  }
  if (rest == "%") return parse_percentage(text, *decimal, total_memory);
  const auto unit = rest.size() == 1 ? size_unit(rest.front()) : std::nullopt;
  if (!unit) return not_a_size(text);
  const auto bytes = multiply(*decimal, *unit);
  // The largest number is the word for "unlimited", which a size must not turn into by accident.
  if (!bytes || *bytes == unlimited) return refuse(quoted(text) + " is larger than any memory: write a smaller size");
  return *bytes;
}

Expected<Microseconds> parse_duration(std::string_view text) {
  if (text.find_first_of(":-") != std::string_view::npos) return parse_clock(text);
  std::string_view rest = text;
  std::uint64_t total = 0;
  std::uint64_t previous_factor = std::numeric_limits<std::uint64_t>::max();
  do {
    const auto decimal = take_decimal(rest);
    if (!decimal) return not_a_duration(text);
    if (rest.empty() && decimal->whole.data() == text.data()) {
      const std::string number(text.substr(0, 20));
      return refuse(quoted(text) + " has no unit: write " + number + "m (as Slurm reads it) or " + number +
                    "s (as systemd does)");
    }
    const auto factor = take_time_unit(rest);
    // "30m1h" and "5m5m" are more likely slips than sums.
    if (!factor || *factor >= previous_factor) return not_a_duration(text);
    previous_factor = *factor;
    const auto part = multiply(*decimal, *factor);
    if (!part || __builtin_add_overflow(total, *part, &total)) return to_duration(text, std::nullopt);
  } while (!rest.empty());
  return to_duration(text, total);
}

Expected<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text) {
  std::vector<bool> chosen(maximum_cpu + 1, false);
  for (const auto part : split(text, ',')) {
    std::string_view rest = part;
    const auto first = to_number<std::uint64_t>(take_digits(rest));
    auto last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = to_number<std::uint64_t>(take_digits(rest));
    }
    if (!first || !last || !rest.empty() || *first > *last) {
      return refuse(quoted(text) + " is not a list of CPUs: write it as in 0-3,8");
    }
    if (*last > maximum_cpu) {
      return refuse(quoted(text) + " names a CPU above " + std::to_string(maximum_cpu) + ": no machine has so many");
    }
    std::fill(chosen.begin() + static_cast<std::ptrdiff_t>(*first),
              chosen.begin() + static_cast<std::ptrdiff_t>(*last) + 1, true);
  }
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu <= maximum_cpu; ++cpu) {
    if (chosen[cpu]) cpus.push_back(cpu);
  }
  return cpus;
}

std::string format_cpu_list(const std::vector<std::uint32_t>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (end - i > 1) text += '-' + std::to_string(cpus[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace mljobd::core
