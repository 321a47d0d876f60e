// The guard's part that has the most important job's memory left alone.
#include <algorithm>
#include <set>

#include "core/unit_names.hpp"
#include "job_manager.hpp"
#include "log.hpp"
#include "pressure_guard.hpp"

namespace mljobd {

void PressureGuard::protect(const core::PressureSnapshot& seen) {
  for (const auto& [name, amount] : protection_.step(seen)) {
    const std::string slice = name;
    // To name a slice that PID 1 has let go of would make it load one.
    const auto job = core::parse_job_slice(slice);
    if (job && !runner_.holds_units(job->id)) continue;
    const core::Bytes low = job ? amount : std::max(amount, administrators_low(slice));
    runner_.set_memory_low(slice, low, [this, slice, job](const core::Expected<void>& done) {
      if (!done && job && !runner_.holds_units(job->id)) return;  // it ended meanwhile
      if (!done) protection_.failed(slice, loop_.now().boot);
      if (!job) {
        manager_.set_problem(
            "protection of " + slice,
            done ? std::string()
                 : "MemoryLow of " + slice +
                       " cannot be set, which protects the most important job: " + done.error().message);
      } else if (!done) {
        log::warning("MemoryLow of " + slice + " cannot be set: " + done.error().message);
      }
    });
  }
}

// Ours comes on top of what was there before, and leaves it when it goes.
core::Bytes PressureGuard::administrators_low(const std::string& slice) {
  const auto known = administrators_low_.find(slice);
  if (known != administrators_low_.end()) return known->second;
  const std::string root(core::root_slice);
  const auto low = runner_.memory_low(slice == root ? root : root + "/" + slice);
  administrators_low_.emplace(slice, low);
  return low;
}

// An earlier daemon may have protected a job that is no longer the most important one. Slices of jobs are ours alone;
// those above got the same amount, and any other is the administrator's.
void PressureGuard::find_protected() {
  std::set<core::Bytes> ours;
  for (const auto& [id, job] : manager_.active_jobs()) {
    const auto low = runner_.memory_low(core::job_slice_cgroup(*job));
    protection_.found(core::job_slice(*job), low);
    if (low > 0) ours.insert(low);
  }
  const auto find = [&](const std::string& slice, const std::string& cgroup) {
    const auto low = runner_.memory_low(cgroup);
    if (!ours.contains(low)) return;
    protection_.found(slice, low);
    administrators_low_.emplace(slice, 0);
  };
  const std::string root(core::root_slice);
  find(root, root);
  for (const auto& job_class : manager_.settings().classes) {
    find(core::class_slice(job_class.name), core::class_slice_cgroup(job_class.name));
  }
}

}  // namespace mljobd
