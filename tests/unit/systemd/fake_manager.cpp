#include "fake_manager.hpp"

#include <array>
#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "systemd/manager_bus.hpp"
#include "systemd/unit_path.hpp"

namespace mljobd::test {

PrivateBus::PrivateBus() {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) throw std::runtime_error("pipe");
  daemon_ = fork();
  if (daemon_ == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    // It complains that it cannot raise its limit of descriptors.
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    execlp("dbus-daemon", "dbus-daemon", "--session", "--nofork", "--print-address", nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  char character = 0;
  while (read(pipe_ends[0], &character, 1) == 1 && character != '\n') address_ += character;
  close(pipe_ends[0]);
  if (address_.empty()) throw std::runtime_error("dbus-daemon does not start");
}

PrivateBus::~PrivateBus() { end(); }

void PrivateBus::end() {
  if (daemon_ <= 0) return;
  kill(daemon_, SIGKILL);
  waitpid(daemon_, nullptr, 0);
  daemon_ = -1;
}

bool run_until(systemd::EventLoop& loop, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  constexpr std::uint64_t step_usec = 20'000;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    sd_event_run(loop.native(), step_usec);
  }
  return true;
}

void settle(systemd::EventLoop& loop) {
  constexpr std::uint64_t quiet_usec = 150'000;
  while (sd_event_run(loop.native(), quiet_usec) > 0) {
  }
}

FakeManager::FakeManager(systemd::EventLoop& loop, const PrivateBus& bus)
    : connection_(bus.connect()),
      source_(loop, *connection_, [] {}),
      manager_(sdbus::createObject(*connection_, "/org/freedesktop/systemd1")) {
  const auto add = [&](const char* method, const char* in, const char* out, sdbus::method_callback callback) {
    manager_->registerMethod(systemd::manager_interface, method, in, out, std::move(callback));
  };
  add("StartTransientUnit", "ssa(sv)a(sa(sv))", "o",
      [this](sdbus::MethodCall call) { answer("StartTransientUnit", std::move(call), on_start); });
  add("StopUnit", "ss", "o", [this](sdbus::MethodCall call) { answer("StopUnit", std::move(call), on_stop); });
  for (const char* method : {"Subscribe", "Unsubscribe"}) {
    add(method, "", "", [this, method](const sdbus::MethodCall& call) {
      calls.emplace_back(method);
      call.createReply().send();
    });
  }
  manager_->registerProperty(systemd::manager_interface, "Version", "s",
                             [](sdbus::PropertyGetReply& reply) { reply << "252.39-1~deb12u1"; });
  manager_->finishRegistration();
  connection_->requestName(systemd::manager_name);
}

void FakeManager::answer(const char* method, sdbus::MethodCall call,
                         const std::function<std::string(const std::string&)>& act) {
  std::string unit;
  call >> unit;
  calls.push_back(std::string(method) + " " + unit);
  if (!answers) {
    unanswered_.push_back(std::move(call));
    return;
  }
  const auto path = act(unit);
  auto reply = call.createReply();
  reply << sdbus::ObjectPath(path);
  reply.send();
}

void FakeManager::job_removed(const std::string& path, const std::string& unit, const std::string& result) {
  auto signal = manager_->createSignal(systemd::manager_interface, "JobRemoved");
  signal << std::uint32_t{1} << sdbus::ObjectPath(path) << unit << result;
  signal.send();
}

void FakeManager::unit_removed(const std::string& unit) {
  auto signal = manager_->createSignal(systemd::manager_interface, "UnitRemoved");
  signal << unit << sdbus::ObjectPath(systemd::unit_path(unit));
  signal.send();
}

void FakeManager::reloading(bool active) {
  auto signal = manager_->createSignal(systemd::manager_interface, "Reloading");
  signal << active;
  signal.send();
}

sdbus::IObject& FakeManager::unit_object(const std::string& unit) {
  auto& object = units_[unit];
  if (!object) object = sdbus::createObject(*connection_, systemd::unit_path(unit));
  return *object;
}

void FakeManager::properties_changed(const std::string& unit, const std::string& interface,
                                     const std::map<std::string, sdbus::Variant>& values) {
  auto signal = unit_object(unit).createSignal(systemd::properties_interface, "PropertiesChanged");
  signal << interface << values << std::vector<std::string>{"ExecStart"};
  signal.send();
}

void FakeManager::add_unit(const std::string& unit, const std::string& active, const std::string& result) {
  auto& object = unit_object(unit);
  const auto add = [&](const char* interface, const char* name, const std::string& value) {
    object.registerProperty(interface, name, "s", [value](sdbus::PropertyGetReply& reply) { reply << value; });
  };
  add("org.freedesktop.systemd1.Unit", "LoadState", "loaded");
  add("org.freedesktop.systemd1.Unit", "ActiveState", active);
  add("org.freedesktop.systemd1.Service", "Result", result);
  add("org.freedesktop.systemd1.Service", "ControlGroup", "/x");
  object.finishRegistration();
}

}  // namespace mljobd::test
