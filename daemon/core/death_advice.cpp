#include "core/death_advice.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/format.hpp"
#include "core/signal_names.hpp"
#include "core/text.hpp"

namespace mljobd::core {
namespace {

constexpr Bytes mebibyte = Bytes{1} << 20;
constexpr Bytes gibibyte = Bytes{1} << 30;
constexpr std::size_t longest_sentence = 400;  // of what others wrote

std::string job_number(const Job& job) { return "job " + std::to_string(job.id); }
std::string subject(const Job& job) { return "Job " + std::to_string(job.id); }

// As it is typed: whole gibibytes, below one of them steps of 64 MiB.
std::string typed(Bytes bytes) {
  if (bytes % gibibyte == 0) return std::to_string(bytes / gibibyte) + "G";
  return std::to_string(bytes / mebibyte) + "M";
}

Bytes step_of(Bytes bytes) { return bytes > gibibyte ? gibibyte : 64 * mebibyte; }
Bytes rounded_up(Bytes bytes) { return (bytes + step_of(bytes) - 1) / step_of(bytes) * step_of(bytes); }
Bytes rounded_down(Bytes bytes) { return bytes / step_of(bytes) * step_of(bytes); }

// Half as much again: enough to get past the spot in most cases, and a second attempt is cheap beside a lost night.
Bytes half_more(Bytes bytes) { return rounded_up(bytes > unlimited / 4 ? bytes : bytes / 2 * 3); }

std::string comma(std::string text, std::string_view part) {
  return text.append(text.empty() ? "" : ", ").append(part);
}

// "limit 32.0G, peak 32.0G, 11.0G of it /dev/shm"
std::string figures(const Cause& cause) {
  std::string text;
  if (cause.limit) text = comma(text, "limit " + format_bytes(*cause.limit));
  const std::string_view peak = cause.what == CauseKind::own_limit ? "peak " : "peak of this job ";
  if (cause.peak) text = comma(text, std::string(peak) + format_bytes(*cause.peak));
  if (cause.shmem) text = comma(text, format_bytes(*cause.shmem) + " of it /dev/shm");
  return text;
}

std::string killed(const Cause& cause) {
  std::string killer = "it was not recorded who";
  if (!cause.by.empty()) killer = cause.by == "kernel" ? "the kernel" : cause.by;
  if (!cause.victim) return killer + " killed one of its processes";
  return killer + " killed " + cause.victim->second + " (pid " + std::to_string(cause.victim->first) + ")";
}

std::string own_limit_hint(const Job& job, const Evidence& evidence, const Cause& cause) {
  constexpr std::string_view workers = "fewer DataLoader workers";
  // The limit that fired may be of a container inside the job; then its own is not what to raise.
  const bool inner = evidence.slice_events_local && evidence.slice_events_local->oom == 0;
  if (inner)
    return "Raise the limit of the container or group inside the job that ran out, or use " + std::string(workers) +
           ".";
  if (!cause.limit) return "Use " + std::string(workers) + ".";
  const Bytes all = rounded_down(evidence.total_memory_max.value_or(unlimited));
  const Bytes suggested = std::min(half_more(*cause.limit), all);
  if (suggested <= *cause.limit) {
    return "It has all that jobs on this machine may use: use " + std::string(workers) + " or load less at a time.";
  }
  const std::string_view option = job.spec.limits.memory_max ? "--mem-max" : "--mem";
  return "Try `" + std::string(option) + " " + typed(suggested) + "`, or " + std::string(workers) + ".";
}

// What helps when jobs got in each other's way: that each reserves what it needs, and so waits until there is room.
std::string claim_hint(const Job& job, const Evidence& evidence, const Cause& cause) {
  const Bytes all = rounded_down(evidence.total_memory_max.value_or(unlimited));
  const Bytes peak = cause.peak.value_or(0);
  if (memory_claim(job.spec.limits) > 0 && peak <= memory_claim(job.spec.limits)) {
    return "It kept within what it had reserved: let the other jobs reserve what they need with `--mem`.";
  }
  if (peak == 0) return "Reserve what it needs with `--mem`, so that it waits until there is room.";
  return "Reserve what it needs, as with `--mem " + typed(std::min(half_more(peak), all)) +
         "`, so that it waits until there is room.";
}

struct MemoryStory {
  std::string what;
  std::string hint;
};

MemoryStory memory_story(const Job& job, const Evidence& evidence, const Cause& cause) {
  switch (cause.what) {
    case CauseKind::own_limit:
      return {" ran out of host memory (not GPU)", own_limit_hint(job, evidence, cause)};
    case CauseKind::class_limit:
      return {" was ended because the jobs of class " + job.spec.class_name + " together reached their memory limit",
              claim_hint(job, evidence, cause) + " Or run fewer jobs of the class at a time."};
    case CauseKind::total_limit:
      return {" was ended because all jobs together reached what this machine leaves to them",
              claim_hint(job, evidence, cause) + " Or run it when fewer jobs run."};
    case CauseKind::host_oom:
      return {" was ended because memory ran out outside the jobs' own limits",
              "Something beside the jobs needs memory as well: stop it, or keep more for the host with "
              "host_memory_reserve."};
    case CauseKind::oomd:
      return {" was ended by systemd-oomd, which found too much memory pressure",
              claim_hint(job, evidence, cause) + " Or exempt mljob.slice from systemd-oomd."};
    default:
      return {" lost a process to the memory killer", "Which limit was reached is not known: nothing recorded it."};
  }
}

// The path is empty where the output goes to the daemon's own log.
std::string unwritable(std::string_view what, const std::string& path) {
  return "its " + std::string(what) + (path.empty() ? "" : " " + quoted(path)) +
         " cannot be written: check the path, the permissions and the space there";
}

// Where systemd's own exit codes name the step that failed (systemd.exec(5), "Process Exit Codes").
std::string failed_step(const Job& job, std::int32_t status) {
  const std::string program = quoted(job.spec.command.empty() ? "" : job.spec.command.front());
  switch (status) {
    case 200:
      return "its folder " + quoted(job.spec.workdir) + " cannot be entered: check that it exists and that " +
             job.owner_name + " may enter it";
    case 203:
      return "its program " + program + " cannot be executed: check its path, its x permission and its #! line";
    case 205:
      return "a resource limit could not be set";
    case 206:
      return "its OOM score could not be set";
    case 209:
      return unwritable("output", job.spec.output);
    case 222:
      return unwritable("error output", job.spec.error);
    case 216:
    case 217:
      return "the account of " + job.owner_name + " is not known any more: check `getent passwd " +
             std::to_string(job.owner) + "`";
    case 219:
      return "its cgroup could not be entered";
    case 226:
      return "its private /dev/shm could not be set up";
    default:
      return "systemd could not prepare its process (its exit code " + std::to_string(status) +
             " is explained in `man systemd.exec`)";
  }
}

std::string full_shm(const Evidence& evidence) {
  return "/dev/shm was full (" + format_bytes(evidence.shm_free_and_total->first) + " free of " +
         format_bytes(evidence.shm_free_and_total->second) + ")";
}

std::string shm_hint(const Job& job, const Evidence& evidence) {
  const Bytes suggested = half_more(std::max(evidence.shm_free_and_total->second, evidence.usage.memory_shmem));
  const std::string option = "`--private-shm " + typed(suggested) + "`";
  if (job.spec.limits.private_shm) return "Try " + option + ", or fewer DataLoader workers.";
  return "Try a /dev/shm of its own with " + option + ", fewer DataLoader workers, or remove what old jobs left there.";
}

std::string signalled(const Job& job, const Evidence& evidence, const Verdict& verdict) {
  const std::string ended = subject(job) + " was ended by " + signal_name(verdict.exit_signal);
  if (verdict.cause.what == CauseKind::shm_full) {
    return ended + " while " + full_shm(evidence) + ". " + shm_hint(job, evidence);
  }
  constexpr std::array fatal{std::string_view("SIGKILL"), std::string_view("SIGTERM"), std::string_view("SIGINT"),
                             std::string_view("SIGHUP")};
  const bool sent = std::find(fatal.begin(), fatal.end(), signal_name(verdict.exit_signal)) != fatal.end();
  return ended + (sent ? ", which mljobd did not send; no memory limit of it was reached."
                       : ". Its last output says more: `jobctl logs " + std::to_string(job.id) + "`.");
}

}  // namespace

bool is_shm_full(const Evidence& evidence) {
  if (!evidence.shm_free_and_total) return false;
  const auto [free, total] = *evidence.shm_free_and_total;
  return total > 0 && free < total / 100;
}

std::string memory_advice(const Job& job, const Evidence& evidence, const Verdict& verdict) {
  const Cause& cause = verdict.cause;
  const MemoryStory story = memory_story(job, evidence, cause);
  std::string text = subject(job) + story.what;
  if (const auto numbers = figures(cause); !numbers.empty()) text += ": " + numbers;
  text += "; " + killed(cause) + ".";
  if (verdict.exit_code > 0) {
    text += " The job went on and exited with code " + std::to_string(verdict.exit_code) + ".";
  }
  return text + " " + story.hint;
}

std::string survived_kill_advice(const Job& job, const Verdict& verdict) {
  const std::string_view end = verdict.result == JobResult::done ? "ended well" : "went on";
  return subject(job) + " " + std::string(end) + ", but it ran out of memory on the way: " + killed(verdict.cause) +
         ". Check that its results are complete.";
}

std::string start_advice(const Job& job, const Evidence& evidence) {
  const std::string begin = subject(job) + " did not start: ";
  const bool exited = evidence.exit.kind == ProcessExit::Kind::exited;
  if (exited) {
    const std::string step = failed_step(job, evidence.exit.status);
    return begin + step +
           (evidence.spawn_failure ? " (" + printable(*evidence.spawn_failure, longest_sentence) + ")." : ".");
  }
  if (evidence.spawn_failure) return begin + printable(*evidence.spawn_failure, longest_sentence) + ".";
  const std::string result = evidence.unit_result.empty() ? "no reason" : quoted(evidence.unit_result);
  return begin + "systemd gave " + result + " as the result of its unit; `journalctl -b -u mljobd` says more.";
}

std::string pressure_advice(const Job& job) {
  const std::string text = subject(job) + " was ended so that more important jobs could go on: memory had run out";
  const std::string events = ", see `jobctl events " + std::to_string(job.id) + "`.";
  if (job.spec.requeue) return text + events + " It starts again when the memory is free.";
  if (job.spec.kind != JobKind::batch) return text + events;
  return text + events +
         " Submit with `--requeue` to have such a job started again, or run it again with `jobctl requeue " +
         std::to_string(job.id) + "`. With swap on this machine it would have been parked instead.";
}

std::string stop_advice(const Job& job, const Stopping& stopping, const Verdict& verdict) {
  switch (stopping.reason) {
    case StopReason::time_limit: {
      const auto limit = job.spec.time_limit.value_or(Microseconds{0});
      return subject(job) + " reached its time limit of " + format_duration(limit) +
             ". Give it more with `--time`, or let it save its work on SIGTERM.";
    }
    case StopReason::requeue:
      return subject(job) + " was stopped to be started again.";
    default:
      return subject(job) + " was cancelled by " + verdict.cause.by + ".";
  }
}

std::string exit_advice(const Job& job, const Evidence& evidence, const Verdict& verdict) {
  if (verdict.exit_signal != 0) return signalled(job, evidence, verdict);
  if (verdict.exit_code == 0) return "";
  const std::string ended = subject(job) + " exited with code " + std::to_string(verdict.exit_code);
  if (is_shm_full(evidence) && evidence.usage.memory_shmem > 0) {
    return ended + "; " + full_shm(evidence) + ", which may be why. " + shm_hint(job, evidence);
  }
  constexpr std::int32_t shell_offset = 128;
  constexpr std::int32_t last_signal = 64;
  std::string text = ended;
  if (verdict.exit_code > shell_offset && verdict.exit_code <= shell_offset + last_signal) {
    const auto signal = static_cast<std::uint32_t>(verdict.exit_code - shell_offset);
    text += ", which is how a shell says that a program it ran was ended by " + signal_name(signal);
  }
  return text + ". Its last output says more: `jobctl logs " + std::to_string(job.id) + "`.";
}

std::string reboot_advice(const Job& job) {
  const std::string text = "The machine was restarted while " + job_number(job) + " ran.";
  if (job.spec.requeue) return text;
  return text + " Start it again with `jobctl requeue " + std::to_string(job.id) + "`, or submit with `--requeue`.";
}

std::string unknown_advice(const Job& job, const Evidence& evidence) {
  const std::string text = "How " + job_number(job) + " ended is not known: ";
  if (job.spec.kind == JobKind::adopted) return text + "the exit status of an adopted process goes to its parent.";
  if (job.spec.kind == JobKind::foreground) return text + "the `jobctl run` that waited for it was gone.";
  return text +
         (evidence.unit_known ? "systemd has no exit status of it." : "systemd does not know its unit any more.");
}

}  // namespace mljobd::core
