#include "sample_recorder.hpp"

#include <utility>

#include "log.hpp"

namespace mljobd {
namespace {

constexpr core::Microseconds batch_spacing = std::chrono::minutes(1);

core::Microseconds scaled(core::Microseconds time, std::uint32_t scale) { return time * scale / 100; }

}  // namespace

bool SampleRecorder::due(core::BootTime now, std::uint32_t scale) {
  if (now < next_sample_) return false;
  const auto spacing = scaled(core::sample_spacing, scale);
  // On a grid, so that looks which come a little late do not make fewer of them; after a pause a new one begins.
  next_sample_ = now - next_sample_ < spacing ? next_sample_ + spacing : now + spacing;
  return true;
}

void SampleRecorder::add(core::JobId job, const core::JobSample& sample) { gathered_[job].push_back(sample); }

void SampleRecorder::write_when_due(core::BootTime now, std::uint32_t scale) {
  if (now < next_batch_) return;
  next_batch_ = now + scaled(batch_spacing, scale);
  write();
}

void SampleRecorder::write() {
  std::vector<store::JobSamples> batch;
  for (auto& [job, samples] : std::exchange(gathered_, {}))
    batch.push_back({.job = job, .samples = std::move(samples)});
  const auto saved = store_.save_samples(batch);
  if (!saved && !std::exchange(failing_, true)) {
    log::warning("what jobs used in the last minute is not recorded: " + saved.error().message);
  }
  if (saved) failing_ = false;
}

std::vector<core::JobSample> SampleRecorder::take(core::JobId job) {
  auto node = gathered_.extract(job);
  return node.empty() ? std::vector<core::JobSample>{} : std::move(node.mapped());
}

core::Expected<std::vector<core::JobSample>> SampleRecorder::samples(core::JobId job) const {
  auto stored = store_.samples(job);
  if (!stored) return tl::unexpected(stored.error());
  core::SampleNumber number = stored->empty() ? 0 : stored->back().number + 1;
  if (const auto gathered = gathered_.find(job); gathered != gathered_.end()) {
    for (const auto& sample : gathered->second) stored->push_back({.number = number++, .sample = sample});
  }
  std::vector<core::JobSample> samples;
  const auto past = core::stretches(number == 0 ? 0 : number - 1);
  for (const auto& [its_number, sample] : *stored) {
    if (core::is_kept(its_number, past)) samples.push_back(sample);
  }
  return samples;
}

}  // namespace mljobd
