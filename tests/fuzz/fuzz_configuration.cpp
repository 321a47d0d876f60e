// A configuration file of any content either is refused as "FILE:LINE: reason" or yields settings that hold together.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace mljobd;
  static const core::Settings base = core::default_settings();
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto settings = config::parse_settings(text, "config.json", base);
  if (!settings) {
    if (settings.error().code != core::ErrorCode::invalid_config) std::abort();
    if (!settings.error().message.starts_with("config.json")) std::abort();
    return 0;
  }
  if (settings->classes.empty() || settings->classes.size() > config::max_classes) std::abort();
  if (core::find_class(*settings, settings->default_class) == nullptr) std::abort();
  for (const auto& job_class : settings->classes) {
    if (job_class.cpu_weight < 1 || job_class.cpu_weight > 10000) std::abort();
    if (job_class.oom_score_adjust < 1 || job_class.oom_score_adjust > 1000) std::abort();
  }
  const auto& growth = settings->growth;
  if (core::scaled(growth.sample, growth) < std::chrono::milliseconds(10)) std::abort();
  if (growth.sample > growth.bucket / 2 || growth.warmup > growth.longest_warmup) std::abort();
  if (growth.critical > growth.warning || growth.warning > growth.shown) std::abort();
  if (!(growth.p_value > 0 && growth.p_value < 1) || !(growth.jump_z >= 1)) std::abort();
  return 0;
}
