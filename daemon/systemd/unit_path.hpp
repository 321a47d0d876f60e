// systemd's object paths of units: /org/freedesktop/systemd1/unit/ and the escaped name.
#pragma once

#include <string>
#include <string_view>

namespace mljobd::systemd {

[[nodiscard]] std::string unit_path(std::string_view unit);
// Empty when the path is not one of a unit, or its escapes are not hexadecimal.
[[nodiscard]] std::string unit_of_path(std::string_view path);
// Whether the path is of a unit whose name starts with "mljob-"; decides without unescaping.
[[nodiscard]] bool is_job_unit_path(std::string_view path);

}  // namespace mljobd::systemd
