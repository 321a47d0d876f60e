#include "core/measured_advice.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/format.hpp"

namespace mljobd::core {
namespace {

constexpr auto shortest_run = std::chrono::seconds(10);
// In percent of the run. Below them a change would gain less than runs differ from each other.
constexpr std::uint64_t notable_throttling = 10;
constexpr std::uint64_t notable_waiting = 20;
// In percent of the CPUs: a reservation that is used less is too large.
constexpr std::uint64_t little_use = 60;

std::uint64_t count(Microseconds duration) {
  return static_cast<std::uint64_t>(std::max<Microseconds::rep>(duration.count(), 0));
}

// Whatever the kernel counted, the result stays far below what a sum of a few of them could overflow.
std::uint64_t percent(std::uint64_t part, std::uint64_t whole) {
  constexpr double most = 1e9;
  if (whole == 0) return 0;
  return static_cast<std::uint64_t>(std::min(static_cast<double>(part) * 100.0 / static_cast<double>(whole), most));
}

// 215 percent of a CPU: "2.1"
std::string cpus_text(std::uint64_t percent_of_one) {
  return std::to_string(percent_of_one / 100) + "." + std::to_string(percent_of_one % 100 / 10);
}

std::uint32_t rounded_up(std::uint64_t value, std::uint32_t step) {
  return static_cast<std::uint32_t>((value + step - 1) / step * step);
}

// The numbers that the rules look at, all in percent: of the run, of the periods of the quota, or of one CPU.
struct Picture {
  std::uint64_t used = 0;       // of one CPU: 250 = two and a half of them busy all the time
  std::uint64_t available = 0;  // of one CPU
  std::uint64_t throttled = 0;  // of the periods
  std::optional<std::uint64_t> cpu_waiting{};
  std::optional<std::uint64_t> io_waiting{};
};

Picture picture_of(const JobMeasurements& measured) {
  const auto& usage = measured.usage;
  const auto run = count(measured.run_time);
  const std::uint64_t cpuset = std::uint64_t{measured.allotment.cpus} * 100;
  Picture picture{.used = percent(count(usage.cpu_time), run),
                  .available = std::min<std::uint64_t>(measured.allotment.quota_percent.value_or(cpuset), cpuset),
                  .throttled = percent(usage.cpu_throttled_periods, usage.cpu_periods)};
  if (usage.cpu_waiting) picture.cpu_waiting = std::min<std::uint64_t>(percent(count(*usage.cpu_waiting), run), 100);
  if (usage.io_waiting) picture.io_waiting = std::min<std::uint64_t>(percent(count(*usage.io_waiting), run), 100);
  return picture;
}

std::string use_text(const Picture& picture) {
  return "it used " + cpus_text(picture.used) + " of " + cpus_text(picture.available) + " CPUs on average";
}

std::string submit_with_cores(std::uint32_t cores) {
  return "jobctl submit --cpus " + std::to_string(cores) + " -- COMMAND";
}

bool has_too_many_threads(const JobMeasurements& measured) {
  return !measured.finished && measured.usage.tasks > 2 * std::uint64_t{usable_cpus(measured.allotment)};
}

Finding too_many_threads(const JobMeasurements& measured, std::string evidence) {
  const auto usable = std::to_string(usable_cpus(measured.allotment));
  return {.evidence = std::move(evidence) + ", with " + std::to_string(measured.usage.tasks) + " threads for " +
                      usable + (usable == "1" ? " CPU" : " CPUs"),
          .effect = "as many threads as CPUs do the same work without taking turns, which often is much faster",
          .command = "export OMP_NUM_THREADS=" + usable};
}

std::optional<Finding> throttling(const JobMeasurements& measured, const Picture& picture) {
  if (!measured.allotment.quota_percent || picture.throttled < notable_throttling) return std::nullopt;
  const std::uint64_t quota = *measured.allotment.quota_percent;
  std::string evidence = "its CPU quota of " + std::to_string(quota) + "% stopped it in " +
                         std::to_string(picture.throttled) + "% of the periods";
  if (has_too_many_threads(measured)) return too_many_threads(measured, std::move(evidence));
  const std::uint64_t wanted = quota * 100 / (100 - std::min<std::uint64_t>(picture.throttled, 50));
  const auto larger = std::min<std::uint64_t>(rounded_up(wanted, 50), std::uint64_t{measured.allotment.cpus} * 100);
  const std::string option = "--cpu-quota " + std::to_string(larger) + "%";
  return Finding{.evidence = std::move(evidence),
                 .effect = "each stop halts all its threads until the next period; with " + std::to_string(larger) +
                           "% most of them go, and with cores of its own (--cpus) all",
                 .command = measured.finished ? "jobctl submit " + option + " -- COMMAND"
                                              : "jobctl set " + std::to_string(measured.job) + " " + option};
}

std::optional<Finding> short_of_cpu(const JobMeasurements& measured, const Picture& picture) {
  if (picture.cpu_waiting.value_or(0) < notable_waiting) return std::nullopt;
  const std::string share = std::to_string(*picture.cpu_waiting) + "%";
  std::string evidence = "tasks of it waited for a CPU " + share + " of the time; " + use_text(picture);
  if (has_too_many_threads(measured)) return too_many_threads(measured, std::move(evidence));
  const auto& allotment = measured.allotment;
  const auto cores = allotment.reserved ? allotment.cores + std::max(allotment.cores / 2, 1U)
                                        : std::max(rounded_up(picture.used, 100) / 100, 1U);
  return Finding{.evidence = std::move(evidence),
                 .effect = std::string(allotment.reserved ? "more cores of its own" : "cores of its own") +
                           " take that waiting away: at most " + share + " shorter",
                 .command = submit_with_cores(cores)};
}

std::optional<Finding> waiting_for_storage(const JobMeasurements& measured, const Picture& picture) {
  if (picture.io_waiting.value_or(0) < notable_waiting) return std::nullopt;
  Finding finding{.evidence = "tasks of it waited for data " + std::to_string(*picture.io_waiting) +
                              "% of the time, from " + storage_text(measured.storage) + "; " + use_text(picture)};
  if (measured.storage.type == StorageType::hdd) {
    finding.effect =
        "fewer workers let the disk read in order; copying the data to an SSD or to memory first gains most";
  } else {
    finding.effect = "more workers read ahead while others compute, as long as the storage keeps up";
  }
  return finding;
}

std::optional<Finding> reserved_too_much(const JobMeasurements& measured, const Picture& picture) {
  const auto& allotment = measured.allotment;
  const auto enough = std::max(rounded_up(picture.used, 100) / 100, 1U);
  if (!allotment.reserved || enough >= allotment.cores || percent(picture.used, picture.available) >= little_use) {
    return std::nullopt;
  }
  return Finding{.evidence = use_text(picture) + ", which are " + std::to_string(allotment.cores) + " cores of its own",
                 .effect = "with " + std::to_string(enough) + " it loses nothing, and " +
                           std::to_string(allotment.cores - enough) + " are free for other jobs",
                 .command = submit_with_cores(enough)};
}

Finding nothing_to_gain(const Picture& picture) {
  if (!picture.cpu_waiting || !picture.io_waiting) {
    return {.evidence = use_text(picture) + "; this kernel does not tell what it waited for",
            .effect = "with pressure information (psi=1 on the kernel's command line) there is more to say",
            .command = "jobctl doctor"};
  }
  return {.evidence = use_text(picture) + "; tasks of it waited for a CPU " + std::to_string(*picture.cpu_waiting) +
                      "% and for data " + std::to_string(*picture.io_waiting) + "% of the time",
          .effect = "other CPUs or workers would change little; if it is slow, look at the GPU and the network"};
}

}  // namespace

Advice advise_job(const JobMeasurements& measured) {
  const auto& allotment = measured.allotment;
  Advice advice{.job = measured.job,
                .jobs = allotment.sharing_jobs,
                .num_workers = num_workers(allotment),
                .threads = usable_cpus(allotment),
                .cores = allotment.cores,
                .cpus = allotment.cpus,
                .storage = measured.storage};
  if (measured.run_time < shortest_run) {
    advice.findings.push_back(
        {.evidence = "it ran for " + format_duration(measured.run_time) + ", too short to judge",
         .effect = "these are the numbers for the CPUs that it has",
         .command = measured.finished ? "" : "jobctl advise --job " + std::to_string(measured.job)});
    return advice;
  }
  const auto picture = picture_of(measured);
  auto cpu = throttling(measured, picture);
  // A task that the quota stopped counts as waiting for a CPU, too.
  if (!cpu) cpu = short_of_cpu(measured, picture);
  const bool short_of_cpus = cpu.has_value();
  if (cpu) advice.findings.push_back(std::move(*cpu));
  if (auto storage = waiting_for_storage(measured, picture)) {
    if (!short_of_cpus) {
      const auto fewer = workers_for(measured.storage.type, advice.num_workers);
      advice.num_workers = measured.storage.type == StorageType::hdd ? fewer : std::max(fewer, advice.num_workers + 1);
    }
    advice.findings.push_back(std::move(*storage));
  }
  if (advice.findings.empty()) {
    if (auto reserved = reserved_too_much(measured, picture)) advice.findings.push_back(std::move(*reserved));
  }
  if (advice.findings.empty()) advice.findings.push_back(nothing_to_gain(picture));
  return advice;
}

}  // namespace mljobd::core
