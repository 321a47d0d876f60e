// The administrator's settings: JSON files with comments in, validated values out.
//
// Errors are ErrorCode::invalid_config and always read "FILE:LINE: reason", syntax and meaning alike. Nothing is
// half-applied: a configuration is taken whole or refused whole. (A file that cannot be read at all has no line.)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/settings.hpp"
#include "core/types.hpp"

namespace mljobd::config {

inline constexpr std::size_t max_file_size = std::size_t{1} << 20;
inline constexpr std::size_t max_depth = 16;
inline constexpr std::size_t max_classes = 32;

struct ConfigSources {
  std::string file{};       // /etc/mljobd/config.json
  std::string directory{};  // /etc/mljobd/conf.d: its *.json follow in the order of their bytes
};

// The defaults, then the file, then those of the directory, each laid over what came before. What is absent is
// skipped; what is there must be a regular file that is not writable by everybody, and valid.
[[nodiscard]] core::Expected<core::Settings> load_settings(const ConfigSources& sources);

// One layer: `text` over `base`. Scalars replace; classes are merged by name, and `"remove": true` drops one.
// `file_name` is for messages only.
[[nodiscard]] core::Expected<core::Settings> parse_settings(std::string_view text, const std::string& file_name,
                                                            core::Settings base);

}  // namespace mljobd::config
