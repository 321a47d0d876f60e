// mljob-rate: how many jobs a second, through the daemon and without it, over one D-Bus connection.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "burst.hpp"
#include "floor.hpp"

namespace {

using namespace mljobd::rate;

std::optional<std::uint32_t> parse_count(std::string_view text) {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count == 0) return std::nullopt;
  return count;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view what = argument_count == 3 ? arguments[1] : "";
  const auto jobs = argument_count == 3 ? parse_count(arguments[2]) : std::nullopt;
  if (!jobs || (what != "floor" && what != "burst")) {
    std::fputs("Usage: mljob-rate floor|burst JOBS\nPrints the seconds that they took.\n", stderr);
    return 2;
  }
  try {
    Bus bus;
    const auto started = std::chrono::steady_clock::now();
    if (what == "floor") {
      run_floor(bus, *jobs);
    } else {
      run_burst(bus, *jobs);
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
    std::printf("%.3f\n", taken.count());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mljob-rate: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
