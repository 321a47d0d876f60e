// Names, letters and values after sbatch(1) of Slurm 23.11, those that were renamed since included.
#include "client/script/slurm_option_table.hpp"

#include <array>

namespace mljobd::client {
namespace {

using enum SlurmTreatment;
using enum SlurmValue;

constexpr std::string_view classes_instead =
    "there are no partitions, accounts or the like here; `--class` says how important a job is";
constexpr std::string_view one_machine = "there is one machine here, and every job runs on it";
constexpr std::string_view no_gpu = "this version assigns no GPU: the job sees all of the machine's";
constexpr std::string_view no_mail = "no mail is sent; `jobctl wait` and `jobctl events` tell";
constexpr std::string_view no_binding = "processes are not bound one by one; the job's cores are its own";
constexpr std::string_view no_licenses = "there are no licenses to wait for here";
constexpr std::string_view no_deadline = "only --begin and --time are kept to";

constexpr std::array table{
    SlurmOption{"job-name", 'J', required, honoured, ""},
    SlurmOption{"cpus-per-task", 'c', required, honoured, ""},
    SlurmOption{"ntasks", 'n', required, honoured, ""},
    SlurmOption{"ntasks-per-node", '\0', required, honoured, ""},
    SlurmOption{"nodes", 'N', required, honoured, ""},
    SlurmOption{"mem", '\0', required, honoured, ""},
    SlurmOption{"mem-per-cpu", '\0', required, honoured, ""},
    SlurmOption{"time", 't', required, honoured, ""},
    SlurmOption{"dependency", 'd', required, honoured, ""},
    SlurmOption{"array", 'a', required, honoured, ""},
    SlurmOption{"output", 'o', required, honoured, ""},
    SlurmOption{"error", 'e', required, honoured, ""},
    SlurmOption{"open-mode", '\0', required, honoured, ""},
    SlurmOption{"chdir", 'D', required, honoured, ""},
    SlurmOption{"workdir", '\0', required, honoured, ""},
    SlurmOption{"signal", '\0', required, honoured, ""},
    SlurmOption{"requeue", '\0', none, honoured, ""},
    SlurmOption{"no-requeue", '\0', none, honoured, ""},
    SlurmOption{"begin", 'b', required, honoured, ""},
    SlurmOption{"nice", '\0', optional, honoured, ""},
    SlurmOption{"comment", '\0', required, honoured, ""},
    SlurmOption{"export", '\0', required, honoured, ""},
    SlurmOption{"hold", 'H', none, honoured, ""},
    SlurmOption{"wait", 'W', none, honoured, ""},
    SlurmOption{"parsable", '\0', none, honoured, ""},
    SlurmOption{"test-only", '\0', none, honoured, ""},
    SlurmOption{"wrap", '\0', required, honoured, ""},

    SlurmOption{"quiet", 'Q', none, unimportant, ""},
    SlurmOption{"verbose", 'v', none, unimportant, ""},
    SlurmOption{"ignore-pbs", '\0', none, unimportant, ""},
    SlurmOption{"kill-on-invalid-dep", '\0', required, unimportant, ""},
    SlurmOption{"no-kill", 'k', optional, unimportant, ""},
    SlurmOption{"use-min-nodes", '\0', none, unimportant, ""},
    SlurmOption{"wait-all-nodes", '\0', required, unimportant, ""},
    SlurmOption{"spread-job", '\0', none, unimportant, ""},
    SlurmOption{"contiguous", '\0', none, unimportant, ""},
    SlurmOption{"switches", '\0', required, unimportant, ""},
    SlurmOption{"mincpus", '\0', required, unimportant, ""},
    SlurmOption{"nodefile", 'F', required, unimportant, ""},
    SlurmOption{"acctg-freq", '\0', required, unimportant, ""},
    SlurmOption{"oom-kill-step", '\0', optional, unimportant, ""},
    SlurmOption{"stepmgr", '\0', none, unimportant, ""},

    SlurmOption{"partition", 'p', required, left_out, classes_instead},
    SlurmOption{"account", 'A', required, left_out, classes_instead},
    SlurmOption{"qos", 'q', required, left_out, classes_instead},
    SlurmOption{"reservation", '\0', required, left_out, classes_instead},
    SlurmOption{"wckey", '\0', required, left_out, classes_instead},
    SlurmOption{"mcs-label", '\0', required, left_out, classes_instead},
    SlurmOption{"priority", '\0', required, left_out, "Slurm's numbers mean nothing here; `--nice` does"},
    SlurmOption{"constraint", 'C', required, left_out, one_machine},
    SlurmOption{"prefer", '\0', required, left_out, one_machine},
    SlurmOption{"cluster-constraint", '\0', required, left_out, one_machine},
    SlurmOption{"nodelist", 'w', required, left_out, one_machine},
    SlurmOption{"exclude", 'x', required, left_out, one_machine},
    SlurmOption{"exclusive", '\0', optional, left_out, "others may run beside this job; `--cpus` and `--mem` reserve"},
    SlurmOption{"oversubscribe", 's', optional, left_out, "cores that are reserved are not shared"},
    SlurmOption{"share", '\0', none, left_out, "cores that are reserved are not shared"},
    SlurmOption{"overcommit", 'O', none, left_out, "cores are counted as --ntasks and --cpus-per-task say"},
    SlurmOption{"gres", '\0', required, left_out, no_gpu},
    SlurmOption{"gpus", 'G', required, left_out, no_gpu},
    SlurmOption{"gpus-per-node", '\0', required, left_out, no_gpu},
    SlurmOption{"gpus-per-task", '\0', required, left_out, no_gpu},
    SlurmOption{"gpus-per-socket", '\0', required, left_out, no_gpu},
    SlurmOption{"cpus-per-gpu", '\0', required, left_out, "this version assigns no GPU; say --cpus-per-task"},
    SlurmOption{"mem-per-gpu", '\0', required, left_out, "this version assigns no GPU; say --mem"},
    SlurmOption{"ntasks-per-gpu", '\0', required, left_out, "this version assigns no GPU; say --ntasks"},
    SlurmOption{"tres-per-task", '\0', required, left_out, no_gpu},
    SlurmOption{"gres-flags", '\0', required, left_out, no_gpu},
    SlurmOption{"gpu-bind", '\0', required, left_out, no_gpu},
    SlurmOption{"gpu-freq", '\0', required, left_out, no_gpu},
    SlurmOption{"mail-type", '\0', required, left_out, no_mail},
    SlurmOption{"mail-user", '\0', required, left_out, no_mail},
    SlurmOption{"licenses", 'L', required, left_out, no_licenses},
    SlurmOption{"deadline", '\0', required, left_out, no_deadline},
    SlurmOption{"time-min", '\0', required, left_out, no_deadline},
    SlurmOption{"delay-boot", '\0', required, left_out, one_machine},
    SlurmOption{"immediate", 'I', optional, left_out,
                "a job that cannot start now waits; `jobctl run` starts now or not"},
    SlurmOption{"tmp", '\0', required, left_out, "disk space is not reserved"},
    SlurmOption{"get-user-env", '\0', optional, left_out, "the environment of this shell goes along; see --export"},
    SlurmOption{"propagate", '\0', optional, left_out, "limits of this shell do not go along"},
    SlurmOption{"x11", '\0', optional, left_out, "no display is forwarded"},
    SlurmOption{"profile", '\0', required, left_out, "`jobctl status` shows what a job used"},
    SlurmOption{"cpu-freq", '\0', required, left_out, "clock rates are not changed"},
    SlurmOption{"power", '\0', required, left_out, "clock rates are not changed"},
    SlurmOption{"core-spec", 'S', required, left_out, "a core stays with the system anyway"},
    SlurmOption{"thread-spec", '\0', required, left_out, "a core stays with the system anyway"},
    SlurmOption{"reboot", '\0', none, left_out, "a job does not reboot the machine"},
    SlurmOption{"extra", '\0', required, left_out, "use --comment for a note"},
    SlurmOption{"distribution", 'm', required, left_out, no_binding},
    SlurmOption{"mem-bind", '\0', required, left_out, no_binding},
    SlurmOption{"hint", '\0', required, left_out, no_binding},
    SlurmOption{"ntasks-per-core", '\0', required, left_out, no_binding},
    SlurmOption{"ntasks-per-socket", '\0', required, left_out, no_binding},
    SlurmOption{"threads-per-core", '\0', required, left_out, no_binding},
    SlurmOption{"cores-per-socket", '\0', required, left_out, no_binding},
    SlurmOption{"sockets-per-node", '\0', required, left_out, no_binding},
    SlurmOption{"extra-node-info", 'B', required, left_out, no_binding},
    SlurmOption{"tres-bind", '\0', required, left_out, no_binding},
    SlurmOption{"network", '\0', required, left_out, one_machine},
    SlurmOption{"resv-ports", '\0', optional, left_out, one_machine},

    SlurmOption{"clusters", 'M', required, refused, "there is no other cluster to send it to"},
    SlurmOption{"input", 'i', required, refused, "standard input is empty; write `exec < FILE` into the script"},
    SlurmOption{"container", '\0', required, refused, "the script would run outside it; start the container in it"},
    SlurmOption{"container-id", '\0', required, refused, "the script would run outside it; start the container in it"},
    SlurmOption{"bb", '\0', required, refused, "there is no burst buffer to stage files in"},
    SlurmOption{"bbf", '\0', required, refused, "there is no burst buffer to stage files in"},
    SlurmOption{"export-file", '\0', required, refused, "write `source FILE` into the script, or use --export"},
    SlurmOption{"uid", '\0', required, refused, "a job runs as the user who submits it"},
    SlurmOption{"gid", '\0', required, refused, "a job runs with the groups of the user who submits it"},
};

}  // namespace

std::span<const SlurmOption> slurm_option_table() { return table; }

}  // namespace mljobd::client
