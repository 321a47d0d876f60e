// Samples of jobs on their way into the store: gathered in memory, so that what is written is a batch now and then.
#pragma once

#include <map>
#include <vector>

#include "core/sample_ring.hpp"
#include "core/types.hpp"
#include "store/store.hpp"

namespace mljobd {

// A daemon that is killed loses what was gathered since the last batch, at most a minute. On a full disk a batch is
// dropped: a picture with a gap is no reason to fill the memory.
class SampleRecorder {
 public:
  explicit SampleRecorder(store::Store& store) : store_(store) {}

  // Whether samples are to be taken at this look at the jobs; the next ones then are due one spacing later. `scale` is
  // PressureSettings::time_scale_percent.
  [[nodiscard]] bool due(core::BootTime now, std::uint32_t scale);
  void add(core::JobId job, const core::JobSample& sample);
  // A batch a minute.
  void write_when_due(core::BootTime now, std::uint32_t scale);
  void write();

  // What is not written yet of a job whose attempt is over, to be stored together with that.
  [[nodiscard]] std::vector<core::JobSample> take(core::JobId job);
  // Both what is written and what is not.
  [[nodiscard]] core::Expected<std::vector<core::JobSample>> samples(core::JobId job) const;

 private:
  store::Store& store_;
  std::map<core::JobId, std::vector<core::JobSample>> gathered_{};
  core::BootTime next_sample_{};
  core::BootTime next_batch_{};
  bool failing_ = false;
};

}  // namespace mljobd
