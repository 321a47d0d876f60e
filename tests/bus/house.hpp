// Everything that a case needs: a bus, a systemd on it that behaves well until it is told otherwise, the daemon, and a
// client that sees no more than org.mljobd1.Manager shows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sdbus-c++/sdbus-c++.h>

#include "daemon_process.hpp"
#include "support/fake_manager.hpp"
#include "support/private_bus.hpp"

namespace mljobd::test {

struct JobRow {
  std::string state{};
  std::string result{};
  std::string cause{};
  std::string advice{};
  std::string unit{};
  std::int32_t exit_code = -1;
  std::uint32_t attempt = 0;
  std::string reason{};
  std::optional<std::uint32_t> array_index{};

  // "running", or "finished failed 7" with the result and the exit code.
  [[nodiscard]] std::string summary() const;
};

class House {
 public:
  House();

  // Fails the case, with what the daemon said, when it does not come up.
  void start_daemon();
  void kill_daemon();
  void restart_daemon();
  // Leaves the bus, and comes back; what it knew of units it still knows.
  void systemd_leaves();
  void systemd_returns();

  using Dictionary = std::map<std::string, sdbus::Variant>;

  // A batch job with nothing special about it but these keys.
  std::uint32_t submit(const Dictionary& keys = {});
  // Submits one and waits until it runs.
  std::uint32_t running_job(const Dictionary& keys = {});
  // The first job of each stage.
  std::vector<std::uint32_t> submit_pipeline(const std::vector<Dictionary>& stages);
  std::vector<Dictionary> preview(const std::vector<Dictionary>& stages);
  // The outcome's error, or empty.
  std::string cancel(std::uint32_t id);
  std::string requeue(std::uint32_t id);
  [[nodiscard]] JobRow row(std::uint32_t id);
  [[nodiscard]] std::vector<Dictionary> list(const Dictionary& filter);
  // The job's property of that name.
  [[nodiscard]] Dictionary forecast(std::uint32_t id);
  // What is recorded of it under that kind: reason and message.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> events(std::uint32_t id, const std::string& kind);
  // The daemon is to be started with this configuration.
  void configure(const std::string& json) const;
  // Whether the job's summary becomes this within half a minute.
  bool reaches(std::uint32_t id, const std::string& summary);
  bool reaches(const std::function<bool()>& condition) { return run_until(loop, condition); }
  // How often systemd was asked for it.
  [[nodiscard]] std::ptrdiff_t called(const std::string& call) const;
  bool is_called(const std::string& call);

  // What a well-behaved systemd does; both return the path of the job.
  std::string start_unit(const std::string& unit);
  std::string stop_unit(const std::string& unit);
  std::string new_job_path();
  void forget_unit(const std::string& unit);
  // The unit's process has exited with this code.
  void exits(const std::string& unit, std::int32_t code);

  TemporaryDirectory directory;
  PrivateBus bus;
  systemd::EventLoop loop;
  // What happens with services, and at the end of slices, whose start is always well-behaved.
  FakeManager::Act on_start = [this](const std::string& unit) { return start_unit(unit); };
  FakeManager::Act on_stop = [this](const std::string& unit) { return stop_unit(unit); };
  FakeManager::Act on_stop_slice = [this](const std::string& unit) { return stop_unit(unit); };
  std::unique_ptr<FakeManager> systemd;
  std::unique_ptr<DaemonProcess> daemon;

 private:
  [[nodiscard]] bool daemon_owns_name();
  std::string outcome_of(const std::string& method, std::uint32_t id);
  void forget_services(std::uint32_t id);

  std::unique_ptr<sdbus::IConnection> connection_;
  std::unique_ptr<sdbus::IProxy> manager_;
  std::unique_ptr<sdbus::IProxy> bus_proxy_;
  std::map<std::string, FakeUnit> units_;
  int jobs_ = 0;
};

// A value of a(ss).
[[nodiscard]] sdbus::Variant text_pairs(const std::vector<std::pair<std::string, std::string>>& pairs);
// The unit of a job's first attempt.
[[nodiscard]] std::string unit_of(std::uint32_t id);
// A state of a unit whose process has exited with this code.
[[nodiscard]] FakeUnit exited_unit(std::int32_t code);

}  // namespace mljobd::test
