// How well growth is told from what only looks like it: `mljob-growth-bench [TRACES]`.
#include <algorithm>
#include <array>
#include <charconv>
#include <iomanip>
#include <iostream>
#include <string_view>

#include "traces.hpp"
#include "trial.hpp"

namespace {

using namespace growth;

constexpr int default_traces = 200;
constexpr int most_traces = 100000;

struct Column {
  std::string_view title;
  double (*value)(const Rates& rates);
};

template <auto count>
double share(const Rates& rates) {
  return 100.0 * (rates.*count) / rates.traces;
}

double leaks(const Rates& rates) { return rates.lasting == 0 ? 0 : 100.0 * rates.leaks / rates.lasting; }

template <auto values, int percent>
double part(const Rates& rates) {
  return quantile(rates.*values, percent / 100.0);
}

template <int percent>
double error(const Rates& rates) {
  return 100 * quantile(rates.errors, percent / 100.0);
}

constexpr std::array false_columns{Column{"GROWTH %", share<&Rates::reported>},
                                   Column{"ALARM %", share<&Rates::alarmed>}};

constexpr std::array drift_columns{Column{"EARLY %", share<&Rates::reported>},
                                   Column{"IN 30 %", share<&Rates::detected>},
                                   Column{"LATER %", share<&Rates::detected_later>},
                                   Column{"AFTER p50", part<&Rates::buckets, 50>},
                                   Column{"p95", part<&Rates::buckets, 95>},
                                   Column{"WAVERS %", share<&Rates::wavering>},
                                   Column{"LEAK %", leaks},
                                   Column{"NOTICE p50", part<&Rates::notice, 50>},
                                   Column{"IN 25%", [](const Rates& rates) { return 100 * share_within(rates, 0.25); }},
                                   Column{"ERROR p5", error<5>},
                                   Column{"p50", error<50>},
                                   Column{"p95", error<95>}};

// As wide as its title, but never less than a number needs.
int width(const Column& column) { return std::max(static_cast<int>(column.title.size()), 5) + 2; }

template <class Columns>
void print(bool drifting, int traces, const Columns& columns) {
  std::cout << std::left << std::setw(17) << "SHAPE" << std::right;
  for (const auto& column : columns) std::cout << std::setw(width(column)) << column.title;
  std::cout << '\n';
  for (int i = 0; i < shape_count; ++i) {
    const auto shape = static_cast<Shape>(i);
    if (grows(shape) != drifting) continue;
    const auto rates = try_shape(shape, traces, {});
    std::cout << std::left << std::setw(17) << to_word(shape) << std::right;
    for (const auto& column : columns) std::cout << std::setw(width(column)) << column.value(rates);
    std::cout << '\n';
  }
}

// 0 for anything but a number.
int number_from(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int traces = argc > 1 ? number_from(argv[1]) : default_traces;
  if (argc > 2 || traces < 1 || traces > most_traces) {
    std::cerr << "usage: mljob-growth-bench [TRACES]: 1 to " << most_traces << " of each shape, " << default_traces
              << " unless told\n";
    return 2;
  }
  std::cout << traces << " random traces of each shape, of five hours.\n\n"
            << "No growth that goes on. ALARM: a warning, or a suspected leak.\n"
            << std::fixed << std::setprecision(1);
  print(false, traces, false_columns);
  std::cout
      << "\nGrowth to the limit. EARLY: told before it began. IN 30: told within 30 buckets. AFTER: so many buckets.\n"
         "WAVERS: taken back in between. LEAK: suspected, of those that last two and a half hours. NOTICE: minutes\n"
         "from the first warning to the limit. IN 25%: forecasts of the last third that are off by no more than that.\n"
         "ERROR: of their time to the limit, in percent.\n";
  print(true, traces, drift_columns);
  return 0;
}
