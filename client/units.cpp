#include "client/units.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>

#include <unistd.h>

#include "client/begin_time.hpp"
#include "client/dependency_list.hpp"
#include "client/signals.hpp"
#include "core/array_indices.hpp"
#include "core/format.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

using core::Value;

template <class Integer>
Outcome<Integer> parse_integer(std::string_view option, std::string_view text, const char* wanted) {
  if (const auto number = core::to_number<Integer>(text)) return *number;
  return usage_failure(std::string(option) + ": \"" + std::string(text) + "\" is not " + wanted);
}

Outcome<Value> to_outcome(std::string_view option, core::Expected<Value> value) {
  if (!value) return usage_failure(std::string(option) + ": " + value.error().message);
  return std::move(*value);
}

Outcome<Value> parse_count(std::string_view option, const std::string& text) {
  if (text == "unlimited" || text == "infinity") return Value(core::unlimited);
  return parse_integer<std::uint64_t>(option, text, "a whole number").map([](std::uint64_t n) { return Value(n); });
}

Outcome<Value> parse_quota(std::string_view option, const std::string& text) {
  if (!text.ends_with('%')) {
    return usage_failure(std::string(option) + ": \"" + text +
                         "\" could be percent or cores; write percent of one core, e.g. 150% for one and a half");
  }
  const std::string_view digits(text.data(), text.size() - 1);
  return parse_integer<std::uint32_t>(option, digits, "a whole number of percent").map([](std::uint32_t n) {
    return Value(n);
  });
}

// More than the present one, and at most ten times of it: "1.5x", "150%".
Outcome<Value> parse_growth(std::string_view option, const std::string& text) {
  const auto refuse = [&] {
    return usage_failure(std::string(option) + ": \"" + text +
                         "\" does not say how much of the memory it had: write it as in 1.5x or 150%, up to 10x");
  };
  if (!text.ends_with('x') && !text.ends_with('%')) return refuse();
  double number = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [stopped, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || stopped != end) return refuse();
  const double percent = std::round(text.ends_with('x') ? number * 100 : number);
  // NaN compares as neither.
  if (percent >= 101 && percent <= 1000) return Value(static_cast<std::uint32_t>(percent));
  return refuse();
}

Outcome<Value> parse_cpus(std::string_view option, std::string text) {
  // systemd separates with blanks as well.
  for (char& c : text) {
    if (c == ' ') c = ',';
  }
  return to_outcome(option, core::parse_cpu_list(text).map([](const std::vector<std::uint32_t>& cpus) {
    return Value(core::format_cpu_list(cpus));
  }));
}

Outcome<Value> parse_between(std::string_view option, std::string_view text, std::uint32_t least, std::uint32_t most) {
  const std::string wanted = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  return parse_integer<std::uint32_t>(option, text, wanted.c_str()).and_then([&](std::uint32_t n) -> Outcome<Value> {
    if (n < least || n > most)
      return usage_failure(std::string(option) + ": " + std::to_string(n) + " is not " + wanted);
    return Value(n);
  });
}

Outcome<Value> parse_after(std::string_view option, const std::string& text) {
  auto list = parse_dependencies(text, "ok");
  if (!list) return usage_failure(std::string(option) + ": " + list.error().message);
  if (list->singleton) return usage_failure(std::string(option) + ": write --singleton, an option of its own");
  return Value(std::move(list->jobs));
}

// To the main process, which the daemon takes for granted: "B:" says no more.
Outcome<Value> parse_warning(std::string_view option, const std::string& text) {
  return to_outcome(option, parse_warning_signal(text).map([](const WarningSignal& warning) {
    return Value(core::SignalAndTime(warning.signal, static_cast<std::uint64_t>(warning.before.count())));
  }));
}

Outcome<Value> parse_checkpoint(std::string_view option, const std::string& text) {
  constexpr std::chrono::microseconds usual_grace = std::chrono::seconds(60);
  const auto signal = signal_from(text);
  if (!signal) return usage_failure(std::string(option) + ": " + "\"" + text + "\" is no signal: write USR1 or 10");
  return Value(core::SignalAndTime(*signal, static_cast<std::uint64_t>(usual_grace.count())));
}

std::uint64_t since_epoch(core::RealTime moment) {
  return static_cast<std::uint64_t>(std::max(moment, core::RealTime{}).time_since_epoch().count());
}

}  // namespace

Outcome<Value> parse_value(OptionKind kind, std::string_view option, const std::string& text,
                           const Surroundings& surroundings) {
  switch (kind) {
    case OptionKind::text:
    case OptionKind::path:
      if (!is_utf8(text)) return usage_failure(std::string(option) + ": the text is not valid UTF-8");
      return Value(kind == OptionKind::path ? absolute_path(text, surroundings.workdir) : text);
    case OptionKind::bytes:
      return to_outcome(option, core::parse_bytes(text, surroundings.total_memory).map([](core::Bytes bytes) {
        return Value(bytes);
      }));
    case OptionKind::duration:
      return to_outcome(option, core::parse_duration(text).map([](core::Microseconds duration) {
        return Value(static_cast<std::uint64_t>(duration.count()));
      }));
    case OptionKind::count:
      return parse_count(option, text);
    case OptionKind::quota:
      return parse_quota(option, text);
    case OptionKind::number:
      return parse_integer<std::int32_t>(option, text, "a whole number").map([](std::int32_t n) { return Value(n); });
    case OptionKind::negated_number:
      return parse_integer<std::int32_t>(option, text, "a whole number").map([](std::int32_t n) {
        return Value(n == INT32_MIN ? INT32_MAX : -n);
      });
    case OptionKind::cpu_list:
      return parse_cpus(option, text);
    case OptionKind::cores:
      return parse_between(option, text, 1, core::maximum_cpu + 1);
    case OptionKind::small_number:
      return parse_between(option, text, 0, 100);
    case OptionKind::growth:
      return parse_growth(option, text);
    case OptionKind::moment:
      return to_outcome(option, parse_begin_time(text, surroundings.now).map([](core::RealTime moment) {
        return Value(since_epoch(moment));
      }));
    case OptionKind::array:
      return to_outcome(option, core::parse_array_indices(text).map([&](const auto&) { return Value(text); }));
    case OptionKind::dependencies:
      return parse_after(option, text);
    case OptionKind::warning:
      return parse_warning(option, text);
    case OptionKind::checkpoint:
      return parse_checkpoint(option, text);
    case OptionKind::open_mode:
      if (text == "append" || text == "truncate") return Value(text);
      return usage_failure(std::string(option) + ": \"" + text + "\" is neither append nor truncate");
  }
  return usage_failure(std::string(option) + ": cannot be set");
}

bool is_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || at + length > text.size()) return false;
    std::uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[at + i]);
      if ((byte & 0xC0U) != 0x80U) return false;
      code = code << 6U | (byte & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (overlong || surrogate || code > 0x10FFFF) return false;
    at += length;
  }
  return true;
}

std::string absolute_path(const std::string& path, const std::string& workdir) {
  if (path.empty() || path.front() == '/') return path;
  return workdir.ends_with('/') ? workdir + path : workdir + "/" + path;
}

Surroundings surroundings() {
  Surroundings result;
  std::string buffer(PATH_MAX, '\0');
  if (::getcwd(buffer.data(), buffer.size()) != nullptr) result.workdir = buffer.c_str();
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  result.now = std::chrono::floor<core::Microseconds>(std::chrono::system_clock::now());
  if (pages > 0 && page > 0) result.total_memory = static_cast<core::Bytes>(pages) * static_cast<core::Bytes>(page);
  return result;
}

}  // namespace mljobd::client
