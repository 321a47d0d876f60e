// The guard's part that has the most important job's memory left alone.
#include "core/unit_names.hpp"
#include "job_manager.hpp"
#include "pressure_guard.hpp"

namespace mljobd {

void PressureGuard::protect(const core::PressureSnapshot& seen) {
  for (const auto& [name, low] : protection_.step(seen)) {
    const std::string slice = name;
    // To name a slice that PID 1 has let go of would make it load one.
    const auto job = core::parse_job_slice(slice);
    if (job && !runner_.holds_units(job->id)) continue;
    runner_.set_memory_low(slice, low, [this, slice, job](const core::Expected<void>& done) {
      if (!done && job && !runner_.holds_units(job->id)) return;  // it ended meanwhile
      if (!done) protection_.failed(slice, loop_.now().boot);
      manager_.set_problem("protection",
                           done ? std::string()
                                : "MemoryLow of " + slice +
                                      " cannot be set, which protects the most important job: " + done.error().message);
    });
  }
}

// An earlier daemon may have protected a job that is no longer the most important one, or is gone.
void PressureGuard::find_protected() {
  const auto find = [this](const std::string& slice, const std::string& cgroup) {
    protection_.found(slice, runner_.memory_low(cgroup));
  };
  const std::string root(core::root_slice);
  find(root, root);
  for (const auto& job_class : manager_.settings().classes) {
    find(core::class_slice(job_class.name), core::class_slice_cgroup(job_class.name));
  }
  for (const auto& [id, job] : manager_.active_jobs()) find(core::job_slice(*job), core::job_slice_cgroup(*job));
  if (manager_.active_jobs().empty()) protect({.now = loop_.now()});
}

}  // namespace mljobd
