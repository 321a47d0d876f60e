// The environment of a job, in a file that only root can read: what is given to PID 1 as Environment= can be read by
// everybody over D-Bus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace mljobd::kernel {

// Writes <directory>/<job>-<attempt>.env, mode 0600, for EnvironmentFile=, and returns its path. An older one is
// replaced as a whole. The directory is made with mode 0700 if it is missing.
// invalid_spec: an entry is not KEY=value with a key of [A-Za-z_][A-Za-z0-9_]*, or its value has a NUL or is not UTF-8:
// systemd drops the first and refuses the whole file for the others. storage: the file cannot be written.
[[nodiscard]] core::Expected<std::string> write_environment_file(const std::string& directory, core::JobId job,
                                                                 std::uint32_t attempt,
                                                                 const std::vector<std::string>& environment);

// One that is not there is no matter.
void remove_environment_file(const std::string& directory, core::JobId job, std::uint32_t attempt);

// The pure part: the text of the file, with the errors above.
[[nodiscard]] core::Expected<std::string> format_environment(const std::vector<std::string>& environment);

}  // namespace mljobd::kernel
