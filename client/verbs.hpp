// The verbs of jobctl: one file each in commands/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/arguments.hpp"
#include "client/failure.hpp"
#include "client/manager_client.hpp"
#include "client/table.hpp"

namespace mljobd::client {

// The code to exit with.
using VerbFunction = int (*)(Invocation& invocation);

struct Verb {
  std::string_view name;
  std::string_view group;  // of the help
  std::string_view summary;
  VerbFunction run;
};

// Null when there is no such verb.
[[nodiscard]] const Verb* find_verb(std::string_view name);
// The help of jobctl itself.
[[nodiscard]] std::string overview();

[[nodiscard]] Bus bus_of(const Invocation& invocation);
[[nodiscard]] Outcome<std::unique_ptr<ManagerClient>> connect(const Invocation& invocation);

// For tables on stdout.
[[nodiscard]] TableStyle table_style(const Invocation& invocation, bool legend);

int run_adopt(Invocation& invocation);
int run_advise(Invocation& invocation);
int run_cancel(Invocation& invocation);
int run_classes(Invocation& invocation);
int run_doctor(Invocation& invocation);
int run_drain(Invocation& invocation);
int run_events(Invocation& invocation);
int run_freeze(Invocation& invocation);
int run_hold(Invocation& invocation);
int run_list(Invocation& invocation);
int run_logs(Invocation& invocation);
int run_park(Invocation& invocation);
int run_release(Invocation& invocation);
int run_reload(Invocation& invocation);
int run_requeue(Invocation& invocation);
int run_resume(Invocation& invocation);
int run_run(Invocation& invocation);
int run_samples(Invocation& invocation);
int run_sbatch(Invocation& invocation);
int run_set(Invocation& invocation);
int run_signal(Invocation& invocation);
int run_status(Invocation& invocation);
int run_submit(Invocation& invocation);
int run_thaw(Invocation& invocation);
int run_unpark(Invocation& invocation);
int run_version(Invocation& invocation);
int run_wait(Invocation& invocation);

}  // namespace mljobd::client
