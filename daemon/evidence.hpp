// Gathers what a dead job left behind: unit result, cgroup counters, records of the kernel and of PID 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/death_cause.hpp"
#include "core/job.hpp"
#include "kernel/cgroup_reader.hpp"
#include "systemd/service_manager.hpp"

namespace mljobd {

// What is known of the end of a job's unit when it is time to ask why.
struct EndedUnit {
  const systemd::UnitStatus& status;
  const kernel::Cgroup* slice = nullptr;  // null when it is gone
  bool start_failed = false;              // its start unit-job did not end as "done"
  std::optional<core::ProcessExit> exit_reported{};
};

struct CgroupPaths {
  std::string root{};       // /sys/fs/cgroup
  std::string job_slice{};  // below the root, as are the next two
  std::string class_slice{};
  std::string total_slice{};
};

class EvidenceCollector {
 public:
  struct Collected {
    core::Evidence evidence{};
    // The counters prove a record that the journal does not have yet: ask again in a moment.
    bool record_missing = false;
  };

  [[nodiscard]] Collected collect(const core::Job& job, const EndedUnit& ended, const CgroupPaths& paths) const;
};

// An error of PID 1 or of ours before any process existed.
[[nodiscard]] core::Verdict start_refused(const core::Job& job, const core::Error& error);

}  // namespace mljobd
