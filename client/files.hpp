// Files that a user names, read within bounds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "client/failure.hpp"
#include "client/unique_fd.hpp"

namespace mljobd::client {

// A named pipe is not waited for and refused, like everything else that is no file. Errors: usage.
[[nodiscard]] Outcome<UniqueFd> open_regular_file(const std::string& path);

// Until its end. A file that is larger than the bound is refused before any of it is read. Errors: usage, with the
// name and `advice`, the half sentence on what to do about the size.
[[nodiscard]] Outcome<std::string> read_at_most(int fd, std::string_view name, std::size_t bound,
                                                std::string_view advice);

}  // namespace mljobd::client
