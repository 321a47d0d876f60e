#include "floor.hpp"

#include <set>

namespace mljobd::rate {
namespace {

constexpr const char* systemd = "org.freedesktop.systemd1";
constexpr const char* systemd_path = "/org/freedesktop/systemd1";
constexpr const char* manager = "org.freedesktop.systemd1.Manager";
constexpr std::chrono::seconds unit_bound{60};

template <class... Values>
void append(const Message& message, const char* types, Values... values) {
  check(sd_bus_message_append(message.get(), types, values...), "cannot write a message");
}

void append_service(const Message& message, const char* slice) {
  check(sd_bus_message_open_container(message.get(), 'a', "(sv)"), "properties");
  append(message, "(sv)", "Slice", "s", slice);
  append(message, "(sv)", "CollectMode", "s", "inactive");
  append(message, "(sv)", "KillMode", "s", "control-group");
  append(message, "(sv)", "TimeoutStopUSec", "t", std::uint64_t{30'000'000});
  append(message, "(sv)", "OOMPolicy", "s", "kill");
  append(message, "(sv)", "Type", "s", "exec");
  append(message, "(sv)", "RemainAfterExit", "b", 1);
  append(message, "(sv)", "User", "s", "root");
  append(message, "(sv)", "WorkingDirectory", "s", "/");
  append(message, "(sv)", "StandardInput", "s", "null");
  append(message, "(sv)", "StandardOutputFileToAppend", "s", "/var/tmp/mljob-rate.log");
  append(message, "(sv)", "StandardErrorFileToAppend", "s", "/var/tmp/mljob-rate.log");
  append(message, "(sv)", "OOMScoreAdjust", "i", 900);
  append(message, "(sv)", "ExecStart", "a(sasb)", 1, "/usr/bin/true", 1, "true", 0);
  check(sd_bus_message_close_container(message.get()), "properties");
}

void append_slice(const Message& message, const char* slice) {
  check(sd_bus_message_open_container(message.get(), 'a', "(sa(sv))"), "slice");
  check(sd_bus_message_open_container(message.get(), 'r', "sa(sv)"), "slice");
  append(message, "s", slice);
  check(sd_bus_message_open_container(message.get(), 'a', "(sv)"), "properties");
  for (const char* name : {"CPUAccounting", "MemoryAccounting", "IOAccounting", "TasksAccounting"}) {
    append(message, "(sv)", name, "b", 1);
  }
  append(message, "(sv)", "MemorySwapMax", "t", std::uint64_t{0});
  append(message, "(sv)", "CPUWeight", "t", std::uint64_t{100});
  check(sd_bus_message_close_container(message.get()), "properties");
  check(sd_bus_message_close_container(message.get()), "slice");
  check(sd_bus_message_close_container(message.get()), "slice");
}

std::string unit_job(const Message& answer) {
  const char* path = nullptr;
  check(sd_bus_message_read(answer.get(), "o", &path), "unit job");
  return path;
}

}  // namespace

void run_floor(Bus& bus, std::uint32_t jobs) {
  std::set<std::string> removed;
  bus.on_signal(systemd, manager, "JobRemoved", [&](sd_bus_message* message) {
    const char* path = nullptr;
    check(sd_bus_message_read(message, "uo", nullptr, &path), "JobRemoved");
    removed.emplace(path);
  });
  static_cast<void>(bus.call(bus.method_call(systemd, systemd_path, manager, "Subscribe")));
  for (std::uint32_t number = 1; number <= jobs; ++number) {
    const std::string slice = "mljobfloor-" + std::to_string(number) + ".slice";
    const std::string service = "mljobfloor-" + std::to_string(number) + ".service";
    const auto start = bus.method_call(systemd, systemd_path, manager, "StartTransientUnit");
    append(start, "ss", service.c_str(), "fail");
    append_service(start, slice.c_str());
    append_slice(start, slice.c_str());
    const auto started = unit_job(bus.call(start));
    bus.wait_until([&] { return removed.contains(started); }, unit_bound);
    const auto stop = bus.method_call(systemd, systemd_path, manager, "StopUnit");
    append(stop, "ss", slice.c_str(), "fail");
    const auto stopped = unit_job(bus.call(stop));
    bus.wait_until([&] { return removed.contains(stopped); }, unit_bound);
  }
}

}  // namespace mljobd::rate
