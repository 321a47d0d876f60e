// What the administrator configures, as validated values. The JSON that they come from is read in config/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/growth_settings.hpp"
#include "core/pressure_settings.hpp"
#include "core/types.hpp"

namespace mljobd::core {

// A kind of work. Its weights compete with those of the other classes, whatever the number of jobs in each.
struct JobClass {
  std::string name{};                     // [a-z][a-z0-9_]{0,31}: a dash would nest slices
  std::uint64_t cpu_weight = 100;         // 1..10000
  std::uint64_t io_weight = 100;          // 1..10000
  std::int32_t rank = 0;                  // importance: the higher, the later it gives way
  std::uint32_t max_running = 0;          // 0 = no bound
  std::int32_t oom_score_adjust = 500;    // 1..1000: a host service (0) never goes before a job
  std::optional<Bytes> default_memory{};  // claim and ceiling of a job that names none
  std::optional<Bytes> maximum_memory{};  // a job of this class may not ask for more

  bool operator==(const JobClass&) const = default;
};

// Bounds on what one caller may make the daemon hold; all are of one user unless said otherwise.
struct Quotas {
  std::uint32_t queued_jobs = 1000;             // waiting or held
  std::uint32_t unfinished_jobs_total = 20000;  // of all users
  bool operator==(const Quotas&) const = default;
};

struct Settings {
  std::vector<JobClass> classes{};
  std::string default_class = "batch";
  // Kept from the jobs for the host: mljob.slice's MemoryMax is RAM minus this.
  // Empty: 5 % of RAM, at least 256 MiB, at most 4 GiB.
  std::optional<Bytes> host_memory_reserve{};
  Bytes log_limit = Bytes{1} << 30;  // disk space of one attempt's log
  Microseconds default_stop_timeout = std::chrono::seconds(30);
  Microseconds history_age = std::chrono::hours(24 * 90);
  std::uint32_t history_jobs = 100000;
  Quotas quotas;
  PressureSettings pressure;
  GrowthSettings growth;

  bool operator==(const Settings&) const = default;
};

// train 700, validate 300, batch 100; batch is killed first when memory runs out, train last.
[[nodiscard]] Settings default_settings();
[[nodiscard]] const JobClass* find_class(const Settings& settings, std::string_view name);
[[nodiscard]] Bytes host_memory_reserve(const Settings& settings, Bytes total_memory);

}  // namespace mljobd::core
