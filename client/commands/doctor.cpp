#include "client/doctor.hpp"

#include <CLI/CLI.hpp>

#include "client/output.hpp"
#include "client/verbs.hpp"

namespace mljobd::client {
namespace {

std::vector<Check> check_bus(const Invocation& invocation) {
  const auto client = connect(invocation);
  if (!client) return {check_failed_call("bus", client.error())};
  std::vector<Check> checks{{.what = "bus", .finding = "can be reached"}};
  const auto properties = (*client)->manager_properties();
  if (!properties) {
    checks.push_back(check_failed_call("mljobd", properties.error()));
    return checks;
  }
  for (auto& check : check_daemon(*properties, MLJOBD_VERSION)) checks.push_back(std::move(check));
  const auto running = (*client)->list_jobs({{"state", core::Value(std::vector<std::string>{"running", "frozen"})},
                                             {"limit", core::Value(std::uint32_t{10000})}});
  checks.push_back(running ? check_parking("", *running) : check_failed_call("parking", running.error()));
  return checks;
}

}  // namespace

int run_doctor(Invocation& invocation) {
  bool json = false;
  VerbParser parser(
      invocation, "What this machine lacks for jobs to be isolated, and how to mend it. Exits with 0 if nothing fails.",
      "jobctl doctor");
  parser.app().add_flag("--json", json, "as JSON");
  if (const auto code = parser.parse()) return *code;
  auto checks = check_machine("", invocation.user);
  for (auto& check : check_bus(invocation)) checks.push_back(std::move(check));
  const int printed = print(json ? checks_as_json(checks) : render_checks(checks, use_colour(invocation.colour)));
  if (printed != exit_code::success) return printed;
  return all_pass(checks) ? exit_code::success : 1;
}

}  // namespace mljobd::client
