#include "core/forecast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/format.hpp"
#include "core/whole_microseconds.hpp"

namespace mljobd::core {
namespace {

using Growth = Forecast::Growth;
using Severity = Forecast::Severity;
using std::chrono::minutes;

constexpr std::array growth_words{std::pair{Growth::learning, std::string_view("learning")},
                                  std::pair{Growth::steady, std::string_view("steady")},
                                  std::pair{Growth::growing, std::string_view("growing")},
                                  std::pair{Growth::leak_suspect, std::string_view("leak-suspect")}};
constexpr std::array severity_words{std::pair{Severity::none, std::string_view("none")},
                                    std::pair{Severity::warning, std::string_view("warning")},
                                    std::pair{Severity::critical, std::string_view("critical")}};

template <class Words, class Key>
std::string_view word_of(const Words& words, Key key) {
  return std::find_if(words.begin(), words.end(), [&](const auto& pair) { return pair.first == key; })->second;
}

template <class T>
const T* find(const ValueMap& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : std::get_if<T>(&found->second.storage);
}

template <class Words, class Target>
void read_word(const ValueMap& values, std::string_view key, const Words& words, Target& target) {
  const auto* const word = find<std::string>(values, key);
  if (word == nullptr) return;
  const auto known = std::find_if(words.begin(), words.end(), [&](const auto& pair) { return pair.second == *word; });
  if (known != words.end()) target = known->first;
}

void put(ValueMap& values, std::string_view key, const std::optional<Microseconds>& duration) {
  if (duration) values.emplace(key, whole_microseconds(*duration));
}

std::optional<Microseconds> read_duration(const ValueMap& values, std::string_view key) {
  const auto* const count = find<std::uint64_t>(values, key);
  if (count == nullptr || !std::in_range<Microseconds::rep>(*count)) return std::nullopt;
  return Microseconds(static_cast<Microseconds::rep>(*count));
}

// Doubles from statistics of hostile numbers may be anything, also none.
std::int64_t whole_bytes(double bytes) {
  constexpr double most = 9.2e18;
  if (std::isnan(bytes)) return 0;
  return static_cast<std::int64_t>(std::clamp(bytes, -most, most));
}

// In minutes while those are few: a person acts on "14 min (11–19)"; "3h20m (2h50m–4h10m)" is told as it is.
bool is_short(const Forecast& forecast) {
  constexpr minutes few(100);
  return *forecast.time_to_limit < few && forecast.latest.value_or(*forecast.time_to_limit) < few;
}

std::string count_minutes(Microseconds duration) {
  return std::to_string(std::chrono::round<minutes>(std::max(duration, Microseconds(0))).count());
}

std::string interval(const Forecast& forecast) {
  if (!forecast.earliest) return {};
  const auto text = [&](Microseconds duration) {
    return is_short(forecast) ? count_minutes(duration) : format_duration(duration);
  };
  if (!forecast.latest) return " (from " + text(*forecast.earliest) + ")";
  return " (" + text(*forecast.earliest) + "–" + text(*forecast.latest) + ")";
}

std::string until_limit(const Forecast& forecast) {
  if (!forecast.time_to_limit) return {};
  if (*forecast.time_to_limit < minutes(1)) return ", limit in less than a minute";
  const std::string time =
      is_short(forecast) ? count_minutes(*forecast.time_to_limit) + " min" : format_duration(*forecast.time_to_limit);
  return ", limit in " + time + interval(forecast);
}

}  // namespace

std::string_view to_word(Growth growth) { return word_of(growth_words, growth); }
std::string_view to_word(Severity severity) { return word_of(severity_words, severity); }

ValueMap to_values(const Forecast& forecast) {
  ValueMap values{{"growth", std::string(to_word(forecast.growth))},
                  {"bytes_per_hour", whole_bytes(forecast.bytes_per_hour)},
                  {"severity", std::string(to_word(forecast.severity))}};
  put(values, "time_to_limit", forecast.time_to_limit);
  put(values, "earliest", forecast.earliest);
  put(values, "latest", forecast.latest);
  return values;
}

Forecast forecast_from(const ValueMap& values) {
  Forecast forecast;
  read_word(values, "growth", growth_words, forecast.growth);
  read_word(values, "severity", severity_words, forecast.severity);
  if (const auto* const rate = find<std::int64_t>(values, "bytes_per_hour")) {
    forecast.bytes_per_hour = static_cast<double>(*rate);
  }
  forecast.time_to_limit = read_duration(values, "time_to_limit");
  forecast.earliest = read_duration(values, "earliest");
  forecast.latest = read_duration(values, "latest");
  return forecast;
}

std::string describe(const Forecast& forecast) {
  if (forecast.growth != Growth::growing && forecast.growth != Growth::leak_suspect) return {};
  const auto rate = static_cast<Bytes>(std::max<std::int64_t>(whole_bytes(forecast.bytes_per_hour), 0));
  const std::string_view suspicion = forecast.growth == Growth::leak_suspect ? "suspected leak: " : "";
  return std::string(suspicion) + "+" + format_bytes(rate) + "/h" + until_limit(forecast);
}

}  // namespace mljobd::core
