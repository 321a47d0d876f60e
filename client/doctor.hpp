// What `jobctl doctor` looks at, from the side of the user who runs it. The checks take their facts as arguments or
// from a root path, so that a test can show them any machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/failure.hpp"
#include "core/value.hpp"

namespace mljobd::client {

enum class Verdict { ok, warn, fail };

struct Check {
  Verdict verdict = Verdict::ok;
  std::string what{};     // "cgroup v2"
  std::string finding{};  // one sentence
  std::string remedy{};   // what to type or change; empty if nothing
};

// systemd, cgroup v2 and its controllers, PSI, swap, journal. own_cgroup: the line of /proc/self/cgroup.
[[nodiscard]] std::vector<Check> check_machine(const std::string& root, bool user_mode);

// How much of what the jobs hold could be moved out to swap now. jobs: rows of ListJobs, those that run.
[[nodiscard]] Check check_parking(const std::string& root, const std::vector<core::ValueMap>& jobs);

// What the daemon says of itself.
[[nodiscard]] std::vector<Check> check_daemon(const core::ValueMap& properties, std::string_view own_version);
[[nodiscard]] Check check_failed_call(std::string_view what, const Failure& failure);

// "/user.slice/user-1000.slice/user@1000.service" from the content of /proc/self/cgroup; empty if it is elsewhere.
[[nodiscard]] std::string user_manager_cgroup(std::string_view proc_self_cgroup);

[[nodiscard]] std::string render_checks(const std::vector<Check>& checks, bool colour);
[[nodiscard]] std::string checks_as_json(const std::vector<Check>& checks);
[[nodiscard]] bool all_pass(const std::vector<Check>& checks);  // warnings do

}  // namespace mljobd::client
