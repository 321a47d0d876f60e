// Walking through the text of the kernel's files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace mljobd::kernel {

// What stands before the first `separator`, which is taken off `rest` with it; all of it when there is none.
[[nodiscard]] inline std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white_space = " \t\r\n";
  const std::size_t start = text.find_first_not_of(white_space);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(white_space) - start + 1);
}

}  // namespace mljobd::kernel
