#include "client/verbs.hpp"

#include <algorithm>
#include <array>
#include <clocale>

namespace mljobd::client {
namespace {

constexpr std::string_view start = "Start work";
constexpr std::string_view look = "Look";
constexpr std::string_view act = "Act on jobs";
constexpr std::string_view manage = "The daemon";

constexpr std::array verbs{
    Verb{"submit", start, "queue a command as a job", run_submit},
    Verb{"sbatch", start, "queue a script, with sbatch's own options", run_sbatch},
    Verb{"run", start, "run a command now, on this terminal, as a job", run_run},
    Verb{"adopt", start, "bring running processes of yours under a job", run_adopt},
    Verb{"list", look, "table of jobs", run_list},
    Verb{"status", look, "one job in full, or the machine", run_status},
    Verb{"logs", look, "output of a job", run_logs},
    Verb{"events", look, "what happened, one line each", run_events},
    Verb{"samples", look, "what a job used while it ran", run_samples},
    Verb{"wait", look, "wait for jobs, and exit as they did", run_wait},
    Verb{"advise", look, "how many workers and threads to use, and why", run_advise},
    Verb{"cancel", act, "stop jobs, or take them out of the queue", run_cancel},
    Verb{"hold", act, "keep waiting jobs from starting", run_hold},
    Verb{"release", act, "let held jobs start", run_release},
    Verb{"requeue", act, "put jobs back into the queue", run_requeue},
    Verb{"signal", act, "send a signal to a job's processes", run_signal},
    Verb{"freeze", act, "stop a job where it is; its memory stays", run_freeze},
    Verb{"thaw", act, "let a frozen job go on", run_thaw},
    Verb{"park", act, "freeze a job and move its memory out to swap", run_park},
    Verb{"unpark", act, "let a parked job go on", run_unpark},
    Verb{"set", act, "change the limits of a job", run_set},
    Verb{"classes", manage, "the classes of jobs, most important first", run_classes},
    Verb{"doctor", manage, "what this machine lacks, and how to mend it", run_doctor},
    Verb{"drain", manage, "start nothing new (root)", run_drain},
    Verb{"resume", manage, "start jobs again after drain (root)", run_resume},
    Verb{"reload", manage, "read the configuration again (root)", run_reload},
    Verb{"version", manage, "versions of jobctl and of the daemon", run_version},
};

}  // namespace

const Verb* find_verb(std::string_view name) {
  const auto* found = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.name == name; });
  return found == verbs.end() ? nullptr : found;
}

std::string overview() {
  std::string text =
      "Usage: jobctl [--user] [--color=WHEN] VERB [OPTIONS]\n"
      "Runs machine-learning jobs side by side on this machine, each within its limits.\n";
  std::string_view group;
  for (const auto& verb : verbs) {
    if (verb.group != group) text.append("\n").append(verb.group).append(":\n");
    group = verb.group;
    std::string name(verb.name);
    name.resize(10, ' ');
    text.append("  ").append(name).append(verb.summary).append("\n");
  }
  text +=
      "\nExample:\n"
      "  jobctl submit --class train --mem 12G -- python3 train.py\n"
      "`jobctl VERB --help` explains a verb; the manual is jobctl(1).\n";
  return text;
}

Bus bus_of(const Invocation& invocation) { return invocation.user ? Bus::session : Bus::system; }

Outcome<std::unique_ptr<ManagerClient>> connect(const Invocation& invocation) {
  return ManagerClient::connect(bus_of(invocation));
}

TableStyle table_style(const Invocation& invocation, bool legend) {
  // Only tables measure text; a program start without them is spared the locale.
  std::setlocale(LC_CTYPE, "");  // NOLINT(concurrency-mt-unsafe): one thread
  return {.width = terminal_width(), .legend = legend, .colour = use_colour(invocation.colour)};
}

}  // namespace mljobd::client
