// The daemon over D-Bus. The only file with sdbus calls, and with manager_answers.* the only ones with sdbus types: a
// port to another sdbus-c++ touches no more. One connection, one thread; no call throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/failure.hpp"
#include "client/unique_fd.hpp"
#include "core/sample_ring.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::client {

// The system bus, or the session's with the daemon of `systemd --user`. The environment variable MLJOBD_BUS_ADDRESS
// puts another bus in the place of either: tests run on private ones.
enum class Bus { system, session };

using Rows = std::vector<core::ValueMap>;

struct StateChange {
  core::JobId id = 0;
  std::string old_state{};
  std::string new_state{};
  std::string reason{};
  bool certain = false;  // sent by the daemon that answered last, and not by somebody who speaks like it
};

class ManagerClient {
 public:
  [[nodiscard]] static Outcome<std::unique_ptr<ManagerClient>> connect(Bus bus);
  ~ManagerClient();
  ManagerClient(const ManagerClient&) = delete;
  ManagerClient& operator=(const ManagerClient&) = delete;

  // The methods of org.mljobd1.Manager; see dbus/org.mljobd1.Manager.xml.
  [[nodiscard]] Outcome<core::JobId> submit(const core::ValueMap& spec, const core::ValueMap& options);
  // In the order of the specifications; with the option dry_run none has an id.
  [[nodiscard]] Outcome<std::vector<core::JobId>> submit_pipeline(const Rows& specs, const core::ValueMap& options);
  [[nodiscard]] Outcome<Rows> preview(const Rows& specs);
  [[nodiscard]] Outcome<core::JobId> start_foreground(int pidfd, const core::ValueMap& spec);
  [[nodiscard]] Outcome<core::JobId> adopt(const std::vector<UniqueFd>& pidfds, const core::ValueMap& spec);
  [[nodiscard]] Outcome<Rows> list_jobs(const core::ValueMap& filter);
  [[nodiscard]] Outcome<Rows> list_events(const core::ValueMap& filter);
  [[nodiscard]] Outcome<Rows> list_classes();
  [[nodiscard]] Outcome<core::ValueMap> resources();
  [[nodiscard]] Outcome<core::ValueMap> advise(const core::ValueMap& request);
  // "Cancel", "Hold", "Release" or "Requeue": one outcome per id.
  [[nodiscard]] Outcome<Rows> act_on_many(const std::string& method, const std::vector<core::JobId>& ids);
  // "Drain" or "Resume".
  [[nodiscard]] Outcome<void> change_admission(const std::string& method);
  [[nodiscard]] Outcome<void> reload();
  [[nodiscard]] Outcome<core::ValueMap> manager_properties();

  // The methods of org.mljobd1.Job.
  [[nodiscard]] Outcome<core::ValueMap> job_properties(core::JobId id);
  [[nodiscard]] Outcome<void> signal_job(core::JobId id, int signal, const core::ValueMap& options);
  [[nodiscard]] Outcome<void> freeze(core::JobId id);
  [[nodiscard]] Outcome<void> thaw(core::JobId id);
  [[nodiscard]] Outcome<void> park(core::JobId id);
  [[nodiscard]] Outcome<void> unpark(core::JobId id);
  [[nodiscard]] Outcome<void> set_limits(core::JobId id, const core::ValueMap& limits);
  [[nodiscard]] Outcome<UniqueFd> open_log(core::JobId id, std::optional<std::uint32_t> attempt);
  // The columns of GetSamples.
  [[nodiscard]] Outcome<core::SampleColumns> samples(core::JobId id);
  [[nodiscard]] Outcome<void> report_exit(core::JobId id, int exit_code, unsigned exit_signal);

  // From the answer on, no change is missed; the handlers are called from run_once and nowhere else. `otherwise`: there
  // is news that changed no state, a decision or a forecast.
  [[nodiscard]] Outcome<void> subscribe(std::function<void(const StateChange&)> handler,
                                        std::function<void()> otherwise = {});
  // Called with false when the daemon leaves the bus and with true when one is back.
  [[nodiscard]] Outcome<void> watch_daemon(std::function<void(bool present)> handler);

  // Hands out what has arrived or arrives within the time; a whole batch at once. Errors: the bus is gone.
  [[nodiscard]] Outcome<void> run_once(std::chrono::milliseconds timeout);

 private:
  struct Connection;
  explicit ManagerClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

// What a D-Bus error means to the person at the terminal, and what to type against it. Pure; exposed for the tests.
[[nodiscard]] Failure failure_from_bus_error(std::string_view name, std::string_view message, Bus bus);

}  // namespace mljobd::client
