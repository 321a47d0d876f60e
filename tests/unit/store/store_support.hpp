// A folder that goes away with the test, jobs with every field set, and the answers unwrapped.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <stdlib.h>

#include "core/job.hpp"
#include "core/types.hpp"
#include "store/store.hpp"

namespace mljobd::store {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "mljobd-store-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::string database() const { return path_ + "/jobs.db"; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

template <class T>
T value_of(core::Expected<T> expected) {
  if (!expected) FAIL(expected.error().message);
  return *std::move(expected);
}
inline void require_success(const core::Expected<void>& expected) {
  if (!expected) FAIL(expected.error().message);
}

inline core::RealTime at(std::int64_t seconds) { return core::RealTime(std::chrono::seconds(seconds)); }

inline core::Job job_with(core::JobId id, core::JobState state = core::Queued{}) {
  core::Job job{.id = id, .owner = 1000, .owner_name = "alice", .state = std::move(state), .submitted = at(1000 + id)};
  job.spec.name = "job";
  job.spec.class_name = "train";
  job.spec.command = {"python3", "train.py"};
  return job;
}

inline core::Job finished_job(core::JobId id, core::RealTime ended, core::JobResult result = core::JobResult::done) {
  core::Job job = job_with(id, core::Finished{.result = result});
  job.submitted = at(1);
  job.attempt = {.number = 1, .started = at(2), .ended = ended};
  return job;
}

inline std::vector<core::JobId> ids_of(const std::vector<core::Job>& jobs) {
  std::vector<core::JobId> ids;
  for (const auto& job : jobs) ids.push_back(job.id);
  return ids;
}

}  // namespace mljobd::store
