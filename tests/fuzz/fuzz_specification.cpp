// A job specification from a hostile caller: any dictionary either is refused with a sentence or yields a
// specification within the documented bounds.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include "core/spec_validation.hpp"

namespace {

using namespace mljobd::core;

constexpr std::array keys{"name",       "class",       "command",           "workdir",    "environment",
                          "memory",     "memory_max",  "memory_high",       "swap_max",   "tasks_max",
                          "cpu_weight", "io_weight",   "cpu_quota_percent", "cpu_list",   "oom_score_adjust",
                          "oom_policy", "private_shm", "priority",          "time_limit", "stop_timeout",
                          "hold",       "requeue",     "checkpoint_signal", "parkable",   "warmup",
                          "output",     "error",       "comment",           "labels",     "cpus",
                          "nonsense"};

std::vector<std::string> strings(FuzzedDataProvider& data) {
  std::vector<std::string> values(data.ConsumeIntegralInRange<std::size_t>(0, 6));
  for (auto& value : values) value = data.ConsumeRandomLengthString(64);
  return values;
}

Value value(FuzzedDataProvider& data) {
  switch (data.ConsumeIntegralInRange(0, 9)) {
    case 0:
      return data.ConsumeBool();
    case 1:
      return data.ConsumeIntegral<std::int32_t>();
    case 2:
      return data.ConsumeIntegral<std::uint32_t>();
    case 3:
      return data.ConsumeIntegral<std::int64_t>();
    case 4:
      return data.ConsumeIntegral<std::uint64_t>();
    case 5:
      return data.ConsumeFloatingPoint<double>();
    case 6:
      return strings(data);
    case 7:
      return StringMap{{data.ConsumeRandomLengthString(16), data.ConsumeRandomLengthString(16)}};
    case 8:
      return SignalAndTime{data.ConsumeIntegral<std::int32_t>(), data.ConsumeIntegral<std::uint64_t>()};
    default:
      return data.ConsumeRandomLengthString(128);
  }
}

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  static const Settings settings = default_settings();
  const ValidationContext context{
      .settings = settings,
      .kind = data.PickValueInArray({JobKind::batch, JobKind::foreground, JobKind::adopted}),
      .privileged = data.ConsumeBool(),
      .total_memory = Bytes{16} << 30,
      .jobs_memory_max = Bytes{15} << 30,
      .cpus = {0, 1, 2, 3, 6, 7}};
  ValueMap spec;
  if (data.ConsumeBool()) {
    spec["command"] = std::vector<std::string>{"true"};
    spec["workdir"] = "/tmp";
  }
  while (data.remaining_bytes() > 0 && spec.size() < 16) {
    const char* const key = keys[data.ConsumeIntegralInRange<std::size_t>(0, keys.size() - 1)];
    spec[data.ConsumeIntegralInRange(0, 20) == 0 ? data.ConsumeRandomLengthString(16) : std::string(key)] = value(data);
  }
  const auto job = validate_spec(spec, context);
  if (!job) {
    require(!job.error().message.empty());
    return 0;
  }
  require(!job->command.empty() && !job->command.front().empty());
  require(!job->name.empty() && job->name.size() <= 128 && job->name.find('/') == std::string::npos);
  require(find_class(settings, job->class_name) != nullptr);
  require(job->limits.memory.value_or(0) <= context.jobs_memory_max);
  require(job->workdir.empty() || job->workdir.front() == '/');
  require(context.privileged || job->priority <= 0);
  return 0;
}
