// What a long queue costs; hidden from CTest: `test_bus "[bench]"` prints it.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include "house.hpp"

using namespace mljobd::test;

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::uint32_t queue_length = 10'000;
constexpr std::uint32_t measured = 200;

template <class Act>
Milliseconds duration_of(Act&& act) {
  const auto began = std::chrono::steady_clock::now();
  act();
  return std::chrono::steady_clock::now() - began;
}

std::string resident_memory(const DaemonProcess& daemon) {
  std::ifstream status("/proc/" + std::to_string(daemon.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return line.substr(line.find_first_not_of("VmRSS: \t"));
  }
  return "?";
}

// How long it has run on a CPU, by its scheduler.
Milliseconds cpu_time(const DaemonProcess& daemon) {
  std::uint64_t nanoseconds = 0;
  std::ifstream("/proc/" + std::to_string(daemon.pid()) + "/schedstat") >> nanoseconds;
  return std::chrono::nanoseconds(nanoseconds);
}

// Of the programs that this one started and waited for.
Milliseconds cpu_time_of_children() {
  struct rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto time_of = [](const struct timeval& time) {
    return Milliseconds(std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec));
  };
  return time_of(usage.ru_utime) + time_of(usage.ru_stime);
}

// As a person sees it: the client's start, its reading and the table are part of it.
void print_list(const House& house, const char* title, const std::string& options) {
  const auto output = house.directory.path() + "/list";
  const auto command = "MLJOBD_BUS_ADDRESS='" + house.bus.address() + "' " + MLJOBD_JOBCTL + " list --no-legend -n " +
                       std::to_string(queue_length) + " " + options + " > " + output;
  const auto daemon_before = cpu_time(*house.daemon);
  const auto client_before = cpu_time_of_children();
  const auto list = duration_of([&] { REQUIRE(std::system(command.c_str()) == 0); });
  const auto daemon = cpu_time(*house.daemon) - daemon_before;
  const auto client = cpu_time_of_children() - client_before;
  std::ifstream file(output);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(text.size() > 10 * queue_length);
  std::cout << "list of " << queue_length << " (" << title << "): " << list.count()
            << " ms; the daemon's loop is held for " << daemon.count() << " ms, jobctl computes for " << client.count()
            << " ms; resident " << resident_memory(*house.daemon) << "\n";
}

}  // namespace

TEST_CASE("a queue of ten thousand", "[.][bench]") {
  House house;
  house.start_daemon();
  const auto blocking = house.running_job();
  const House::Dictionary waiting{{"after", text_pairs({{"ok", std::to_string(blocking)}})}};
  const auto submit_many = [&](std::uint32_t count) {
    return duration_of([&] {
      for (std::uint32_t i = 0; i < count; ++i) house.submit(waiting);
    });
  };
  const auto in_short_queue = submit_many(measured) / measured;
  std::cout << "submit into an empty queue: " << in_short_queue.count() << " ms, resident "
            << resident_memory(*house.daemon) << "\n";
  submit_many(queue_length - measured);
  const auto in_long_queue = submit_many(measured) / measured;
  std::cout << "submit into a queue of " << queue_length << ": " << in_long_queue.count() << " ms, "
            << in_long_queue / in_short_queue << " times as long; resident " << resident_memory(*house.daemon) << "\n";
  print_list(house, "jobctl list", "");
  print_list(house, "jobctl list --json, which has all keys", "--json");
  // Somebody else's first job: it does not stand behind the ten thousand.
  const auto start = duration_of([&] { house.running_job(); });
  std::cout << "first job of its own behind them, from submission to running: " << start.count() << " ms\n";
}
