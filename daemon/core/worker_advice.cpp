#include "core/worker_advice.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/format.hpp"

namespace mljobd::core {
namespace {

constexpr std::array thread_variables{"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                      "NUMEXPR_NUM_THREADS", "PYTHON_CPU_COUNT"};

bool is_set(std::span<const std::string> environment, std::string_view variable) {
  return std::any_of(environment.begin(), environment.end(), [&](std::string_view entry) {
    return entry.starts_with(variable) && entry.substr(variable.size()).starts_with('=');
  });
}

std::string counted(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string submit_with(std::uint32_t workers) {
  return "jobctl submit --class train -- python3 train.py --num-workers " + std::to_string(workers);
}

Finding table_finding(const CpuTopology& topology, const Advice& advice) {
  const std::string workers = std::to_string(advice.num_workers);
  std::string evidence = counted(advice.cpus, "logical CPU") + ", " + counted(advice.cores, "physical core") + ", " +
                         counted(numa_nodes(topology).size(), "NUMA node") + ", " +
                         counted(advice.jobs, "training job") + ": ";
  if (advice.cores == 1) {
    evidence += "all work takes turns on one core, and a worker each is the least there can be";
  } else if (advice.jobs == 1) {
    evidence += "one core is for the operating system and the training itself, " + workers + " for workers";
  } else {
    evidence += std::to_string(advice.cores) + " / " + std::to_string(advice.jobs) + " = " + workers +
                (advice.cores < advice.jobs ? " at least" : "") + " for each";
  }
  return {.evidence = std::move(evidence),
          .effect = advice.cores == 1 || advice.cores < advice.jobs
                        ? "more workers, or more trainings at once, would only take turns"
                        : "no two workers take turns on a core, and as few cores as possible are idle",
          .command = submit_with(advice.num_workers)};
}

std::string storage_effect(StorageType type, std::uint32_t workers, std::uint32_t fitting) {
  switch (type) {
    case StorageType::nvme:
      return "it serves many readers at once: up to num_workers " + std::to_string(fitting) +
             " may still gain where loading is the bottleneck";
    case StorageType::hdd:
      if (fitting == workers)
        return "more readers than num_workers " + std::to_string(workers) + " would move its heads";
      return "every reader more moves its heads: num_workers " + std::to_string(fitting) +
             " is likely to load as fast; large files read in order gain more than workers do";
    case StorageType::network:
      return "every read waits for an answer: up to num_workers " + std::to_string(fitting) +
             " hide that as long as the server keeps up";
    case StorageType::memory:
    case StorageType::ssd:
    case StorageType::unknown:
      break;
  }
  return "it does not limit num_workers " + std::to_string(workers);
}

}  // namespace

std::uint32_t num_workers(std::uint32_t cores, std::uint32_t processes) {
  if (processes <= 1) return std::max(cores, 2U) - 1;
  return std::max(cores / processes, 1U);
}

CpuAllotment cpu_allotment(const CpuTopology& topology, const CpuList& reserved, const CpuList& shared,
                           const Limits& limits, std::uint32_t sharing_jobs) {
  CpuList cpus = reserved.empty() ? shared : reserved;
  if (reserved.empty() && limits.cpu_list) {
    const auto wanted = parse_cpu_list(*limits.cpu_list);
    const auto both = wanted ? intersection(*wanted, shared) : CpuList{};
    if (!both.empty()) cpus = both;
  }
  return {.cpus = std::max(static_cast<std::uint32_t>(cpus.size()), 1U),
          .cores = std::max(core_count(topology, cpus), 1U),
          .reserved = !reserved.empty(),
          .sharing_jobs = reserved.empty() ? std::max(sharing_jobs, 1U) : 1U,
          .quota_percent = limits.cpu_quota_percent};
}

std::uint32_t usable_cpus(const CpuAllotment& allotment) {
  const auto paid_for = allotment.quota_percent ? *allotment.quota_percent / 100 : allotment.cpus;
  return std::max(std::min(allotment.cpus, paid_for), 1U);
}

std::uint32_t num_workers(const CpuAllotment& allotment) {
  return num_workers(std::min(allotment.cores, usable_cpus(allotment)), allotment.sharing_jobs);
}

std::vector<std::string> cpu_environment(const CpuAllotment& allotment, std::span<const std::string> environment) {
  const std::string count = std::to_string(usable_cpus(allotment));
  std::vector<std::string> added{"MLJOB_CPUS=" + count, "MLJOB_NUM_WORKERS=" + std::to_string(num_workers(allotment))};
  if (!allotment.reserved && !allotment.quota_percent) return added;
  for (const std::string_view variable : thread_variables) {
    if (!is_set(environment, variable)) added.push_back(std::string(variable) + "=" + count);
  }
  return added;
}

Expected<Advice> advise_machine(const CpuTopology& topology, std::uint32_t jobs, const Storage& storage) {
  if (jobs == 0 || jobs > most_advised_jobs) {
    return failure(ErrorCode::invalid_spec, "jobs is the number of trainings side by side, 1 to " +
                                                std::to_string(most_advised_jobs) + ", not " + std::to_string(jobs));
  }
  const auto cores = std::max(core_count(topology), 1U);
  const auto cpus = std::max(static_cast<std::uint32_t>(all_cpus(topology).size()), 1U);
  Advice advice{.jobs = jobs,
                .num_workers = num_workers(cores, jobs),
                .threads = std::max(cpus / jobs, 1U),
                .cores = cores,
                .cpus = cpus,
                .storage = storage};
  advice.findings.push_back(table_finding(topology, advice));
  if (storage.type != StorageType::unknown) {
    const auto fitting = workers_for(storage.type, advice.num_workers);
    advice.findings.push_back({.evidence = "the data is on " + storage_text(storage),
                               .effect = storage_effect(storage.type, advice.num_workers, fitting),
                               .command = fitting == advice.num_workers ? std::string() : submit_with(fitting)});
  }
  return advice;
}

std::uint32_t workers_for(StorageType type, std::uint32_t workers) {
  switch (type) {
    case StorageType::nvme:
      return workers + std::max(workers / 4, 1U);
    case StorageType::hdd:
      return std::max(workers / 2, 1U);
    case StorageType::network:
      return workers * 2;
    case StorageType::ssd:
    case StorageType::memory:
    case StorageType::unknown:
      break;
  }
  return workers;
}

std::string storage_text(const Storage& storage) {
  std::string text;
  switch (storage.type) {
    case StorageType::nvme:
      text = "NVMe";
      break;
    case StorageType::ssd:
      text = "an SSD";
      break;
    case StorageType::hdd:
      text = "a hard disk";
      break;
    case StorageType::network:
      text = "a network file system";
      break;
    case StorageType::memory:
      text = "a file system in memory";
      break;
    case StorageType::unknown:
      text = "storage of unknown kind";
      break;
  }
  if (!storage.device.empty()) text += " (" + storage.device + ")";
  if (is_virtual(storage)) text += ", as the virtual machine's host has it; what is behind it may be faster";
  return text;
}

ValueMap advice_view(const Advice& advice) {
  std::vector<std::string> evidence;
  std::vector<std::string> effects;
  std::vector<std::string> commands;
  for (const auto& finding : advice.findings) {
    evidence.push_back(finding.evidence);
    effects.push_back(finding.effect);
    commands.push_back(finding.command);
  }
  return {{"job", advice.job},
          {"jobs", advice.jobs},
          {"num_workers", advice.num_workers},
          {"threads", advice.threads},
          {"cores", advice.cores},
          {"cpus", advice.cpus},
          {"storage", std::string(to_word(advice.storage.type))},
          {"storage_device", advice.storage.device},
          {"evidence", evidence},
          {"effects", effects},
          {"commands", commands}};
}

}  // namespace mljobd::core
