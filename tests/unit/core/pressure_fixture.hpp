// Jobs and looks at memory, as briefly as a test wants to say them.
#pragma once

#include <string>
#include <utility>

#include "core/pressure_snapshot.hpp"

namespace mljobd::core::pressure_fixture {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

inline constexpr Bytes mebibyte = Bytes{1} << 20;
inline constexpr Bytes gibibyte = Bytes{1} << 30;
inline constexpr std::int32_t train_rank = 300;
inline constexpr std::int32_t validate_rank = 200;
inline constexpr std::int32_t batch_rank = 100;

// Long enough after the boot that no job of a test is young by accident.
inline Now at(Microseconds since_start) {
  return {.real = RealTime(std::chrono::hours(1000)) + since_start,
          .boot = BootTime(std::chrono::hours(1)) + since_start};
}

inline CgroupMemory holding(Bytes anon) {
  CgroupMemory memory;
  memory.current = anon;
  memory.anon = anon;
  memory.populated = true;
  memory.memory_stalls = StallTotals{};
  return memory;
}

inline PressureJob job(JobId id, std::int32_t rank, Bytes anon) {
  PressureJob made;
  made.id = id;
  made.name = "job" + std::to_string(id);
  made.class_name = rank == train_rank ? "train" : rank == validate_rank ? "validate" : "batch";
  made.rank = rank;
  made.memory = holding(anon);
  made.requeue = true;
  return made;
}

}  // namespace mljobd::core::pressure_fixture
