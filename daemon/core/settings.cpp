#include "core/settings.hpp"

#include <algorithm>

namespace mljobd::core {

Settings default_settings() {
  Settings settings;
  // 700 : 300 is the share that the training keeps beside a validation. The OOM scores are 1/1000 of the limit that
  // fired, so the distance of 300 and more decides unless the more important job holds that much more of it.
  settings.classes = {
      JobClass{.name = "train", .cpu_weight = 700, .io_weight = 700, .rank = 300, .oom_score_adjust = 100},
      JobClass{.name = "validate", .cpu_weight = 300, .io_weight = 300, .rank = 200, .oom_score_adjust = 600},
      JobClass{.name = "batch", .cpu_weight = 100, .io_weight = 100, .rank = 100, .oom_score_adjust = 900},
  };
  return settings;
}

const JobClass* find_class(const Settings& settings, std::string_view name) {
  const auto found =
      std::find_if(settings.classes.begin(), settings.classes.end(), [&](const JobClass& c) { return c.name == name; });
  return found == settings.classes.end() ? nullptr : &*found;
}

Bytes host_memory_reserve(const Settings& settings, Bytes total_memory) {
  constexpr Bytes mebibyte = Bytes{1} << 20;
  const Bytes wanted =
      settings.host_memory_reserve.value_or(std::clamp<Bytes>(total_memory / 20, 256 * mebibyte, 4096 * mebibyte));
  // A machine smaller than its reserve still gives half of itself to jobs rather than none.
  return std::min(wanted, total_memory / 2);
}

}  // namespace mljobd::core
