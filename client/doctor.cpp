#include "client/doctor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/json.hpp"
#include "client/render_text.hpp"
#include "client/terminal.hpp"
#include "client/unique_fd.hpp"
#include "client/values.hpp"
#include "core/format.hpp"

namespace mljobd::client {
namespace {

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Kernel files are short; what does not fit is not wanted.
std::optional<std::string> read_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content(16384, '\0');
  const auto got = file.valid() ? ::read(file.get(), content.data(), content.size()) : -1;
  if (got < 0) return std::nullopt;
  content.resize(static_cast<std::size_t>(got));
  return content;
}

Check check_systemd(const std::string& root) {
  if (exists(root + "/run/systemd/system")) return {.what = "systemd", .finding = "is PID 1"};
  return {.verdict = Verdict::fail,
          .what = "systemd",
          .finding = "this machine is not booted with systemd",
          .remedy = "run on a machine or virtual machine with systemd; a container without it cannot run jobs"};
}

Check check_cgroup(const std::string& root) {
  if (exists(root + "/sys/fs/cgroup/cgroup.controllers")) return {.what = "cgroup v2", .finding = "one hierarchy"};
  return {.verdict = Verdict::fail,
          .what = "cgroup v2",
          .finding = "the kernel was booted with cgroup v1 or a mixture",
          .remedy =
              "add systemd.unified_cgroup_hierarchy=1 to GRUB_CMDLINE_LINUX in /etc/default/grub, then "
              "`sudo update-grub` and reboot"};
}

bool has_word(std::string_view words, std::string_view wanted) {
  while (!words.empty()) {
    const auto word = words.substr(0, words.find_first_of(" \n"));
    if (word == wanted) return true;
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return false;
}

std::string missing_controllers(std::string_view present) {
  std::string missing;
  for (const auto* controller : {"cpu", "memory", "pids", "io", "cpuset"}) {
    if (!has_word(present, controller)) missing += (missing.empty() ? "" : " ") + std::string(controller);
  }
  return missing;
}

Check check_controllers(const std::string& root, bool user_mode) {
  std::string cgroup = "/sys/fs/cgroup";
  if (user_mode) cgroup += user_manager_cgroup(read_file(root + "/proc/self/cgroup").value_or(""));
  const auto present = read_file(root + cgroup + "/cgroup.controllers");
  if (!present) {
    return {.verdict = Verdict::fail, .what = "controllers", .finding = cgroup + "/cgroup.controllers cannot be read"};
  }
  const auto missing = missing_controllers(*present);
  if (missing.empty()) return {.what = "controllers", .finding = "cpu, memory, pids, io and cpuset"};
  const bool essential = missing.find("memory") != std::string::npos || has_word(missing, "cpu");
  Check check{.verdict = essential ? Verdict::fail : Verdict::warn,
              .what = "controllers",
              .finding = "not available: " + missing + "; what they limit stays unlimited",
              .remedy = "remove cgroup_disable= from the kernel command line (cat /proc/cmdline) and reboot"};
  if (user_mode) {
    check.remedy =
        "let root delegate them:\n"
        "  sudo mkdir -p /etc/systemd/system/user@.service.d\n"
        "  printf '[Service]\\nDelegate=cpu cpuset io memory pids\\n' |"
        " sudo tee /etc/systemd/system/user@.service.d/delegate.conf\n"
        "  sudo systemctl daemon-reload    # then log out and in again";
  }
  return check;
}

Check check_pressure(const std::string& root) {
  const auto content = read_file(root + "/proc/pressure/memory");
  if (content && !content->empty()) return {.what = "pressure", .finding = "PSI is measured"};
  return {.verdict = Verdict::warn,
          .what = "pressure",
          .finding = "the kernel does not measure pressure (PSI): a shortage is seen only when it kills",
          .remedy = "add psi=1 to GRUB_CMDLINE_LINUX in /etc/default/grub, then `sudo update-grub` and reboot"};
}

// A line of /proc/meminfo, in bytes.
std::optional<core::Bytes> meminfo(const std::string& root, std::string_view name) {
  const auto content = read_file(root + "/proc/meminfo").value_or("");
  const std::string title = "\n" + std::string(name) + ":";
  const auto found = ("\n" + content).find(title);
  if (found == std::string::npos) return std::nullopt;
  const auto* const end = content.data() + content.size();
  // The title begins with a line break that the content does not.
  const auto* digit = std::find_if(content.data() + found + title.size() - 1, end, [](char c) { return c != ' '; });
  core::Bytes kibibytes = 0;
  if (std::from_chars(digit, end, kibibytes).ec != std::errc{}) return std::nullopt;
  return kibibytes << 10U;
}

// Half of RAM, for the jobs that give way are not all of it.
std::string swap_file_size(const std::string& root) {
  constexpr core::Bytes gibibyte = core::Bytes{1} << 30U;
  const core::Bytes half = meminfo(root, "MemTotal").value_or(0) / 2;
  return std::to_string(std::clamp<core::Bytes>(half / gibibyte, 2, 64)) + "G";
}

Check check_swap(const std::string& root) {
  const auto total = meminfo(root, "SwapTotal").value_or(0);
  if (total > 0) {
    return {.what = "swap",
            .finding = core::format_bytes(total) + ", " + core::format_bytes(meminfo(root, "SwapFree").value_or(0)) +
                       " of it free; a job uses none unless --swap-max allows it, or it is parked"};
  }
  return {.verdict = Verdict::warn,
          .what = "swap",
          .finding =
              "there is none: when memory runs short, less important jobs are ended; with swap they would be parked "
              "in it, and go on afterwards with their work",
          .remedy =
              "add a swap file:\n"
              "  sudo fallocate -l " +
              swap_file_size(root) +
              " /swapfile && sudo chmod 600 /swapfile\n"
              "  sudo mkswap /swapfile && sudo swapon /swapfile\n"
              "  echo '/swapfile none swap sw 0 0' | sudo tee -a /etc/fstab    # at every boot"};
}

Check check_journal(const std::string& root) {
  for (const auto* folder : {"/var/log/journal", "/run/log/journal"}) {
    if (::access((root + folder).c_str(), R_OK | X_OK) == 0) return {.what = "journal", .finding = "can be read"};
  }
  return {.verdict = Verdict::warn,
          .what = "journal",
          .finding = "you cannot read the system journal, where mljobd says what it decided and why",
          .remedy = "`sudo usermod -aG systemd-journal $USER` and log in again; `jobctl events` needs no such right"};
}

std::string_view word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warn:
      return "warn";
    case Verdict::fail:
      break;
  }
  return "fail";
}

Colour colour_of(Verdict verdict) {
  if (verdict == Verdict::ok) return Colour::green;
  return verdict == Verdict::warn ? Colour::yellow : Colour::red;
}

}  // namespace

std::string user_manager_cgroup(std::string_view proc_self_cgroup) {
  const auto begin = proc_self_cgroup.find("0::");
  if (begin == std::string_view::npos) return "";
  auto path = proc_self_cgroup.substr(begin + 3);
  path = path.substr(0, path.find('\n'));
  // A login session lives beside user@.service, under the same user-UID.slice.
  const auto slice = path.find("/user-");
  if (slice == std::string_view::npos) return "";
  const auto end = path.find(".slice", slice);
  if (end == std::string_view::npos) return "";
  const auto uid = path.substr(slice + 6, end - slice - 6);
  return std::string(path.substr(0, end + 6)) + "/user@" + std::string(uid) + ".service";
}

std::vector<Check> check_machine(const std::string& root, bool user_mode) {
  return {check_systemd(root),  check_cgroup(root), check_controllers(root, user_mode),
          check_pressure(root), check_swap(root),   check_journal(root)};
}

Check check_parking(const std::string& root, const std::vector<core::ValueMap>& jobs) {
  core::Bytes held = 0;
  for (const auto& job : jobs) {
    const auto usage = map_or_empty(job, "usage");
    held += value_or<core::Bytes>(usage, "memory_anon", 0) + value_or<core::Bytes>(usage, "memory_shmem", 0);
  }
  if (jobs.empty()) return {.what = "parking", .finding = "no job runs that could be parked"};
  const core::Bytes free = meminfo(root, "SwapFree").value_or(0);
  const std::string of_jobs = "running jobs hold " + core::format_bytes(held) + " that swap could take";
  if (free >= held)
    return {.what = "parking", .finding = of_jobs + ", and it has " + core::format_bytes(free) + " free"};
  return {.verdict = Verdict::warn,
          .what = "parking",
          .finding = of_jobs + ", but " +
                     (free == 0 ? "none of it is free" : "only " + core::format_bytes(free) + " of it are free") +
                     ": not all of them can be parked, and what cannot is ended when memory runs short",
          .remedy = "add swap, or let fewer jobs run at once (max_running of their class)"};
}

std::vector<Check> check_daemon(const core::ValueMap& properties, std::string_view own_version) {
  std::vector<Check> checks{{.what = "mljobd", .finding = "answers, state " + text_or_empty(properties, "State")}};
  const std::string version = text_or_empty(properties, "Version");
  if (version != own_version) {
    checks.push_back({.verdict = Verdict::warn,
                      .what = "version",
                      .finding = "the daemon is " + version + ", jobctl is " + std::string(own_version),
                      .remedy = "`sudo systemctl restart mljobd`; running jobs go on"});
  }
  for (const auto& problem : texts_or_empty(properties, "Problems")) {
    checks.push_back({.verdict = Verdict::fail, .what = "mljobd", .finding = problem});
  }
  return checks;
}

Check check_failed_call(std::string_view what, const Failure& failure) {
  return {.verdict = Verdict::fail, .what = std::string(what), .finding = failure.message};
}

std::string render_checks(const std::vector<Check>& checks, bool colour) {
  std::string text;
  for (const auto& check : checks) {
    std::string verdict(word_of(check.verdict));
    verdict.resize(5, ' ');
    std::string what = check.what;
    what.resize(std::max<std::size_t>(what.size() + 1, 12), ' ');
    text.append(paint(verdict, colour_of(check.verdict), colour)).append(what).append(harmless(check.finding));
    text.push_back('\n');
    std::string_view rest = check.remedy;
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      text.append("     -> ").append(line).push_back('\n');
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  return text;
}

std::string checks_as_json(const std::vector<Check>& checks) {
  std::vector<core::ValueMap> rows;
  for (const auto& check : checks) {
    rows.push_back({{"verdict", core::Value(std::string(word_of(check.verdict)))},
                    {"what", core::Value(check.what)},
                    {"finding", core::Value(check.finding)},
                    {"remedy", core::Value(check.remedy)}});
  }
  return json_list("checks", rows);
}

bool all_pass(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(), [](const Check& check) { return check.verdict == Verdict::fail; });
}

}  // namespace mljobd::client
