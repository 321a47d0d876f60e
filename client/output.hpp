// Data goes to stdout, everything else to stderr; both unbuffered, because who pipes or follows wants each line now.
#pragma once

#include <string_view>

#include "client/failure.hpp"

namespace mljobd::client {

// False once the descriptor takes no more (a full disk, a closed terminal).
bool write_all(int fd, std::string_view bytes);

// The whole text to stdout. What is not written is a failure: a table cut short must not pass for a complete one.
[[nodiscard]] int print(std::string_view text);

// "jobctl: <message>" on stderr.
void warn(std::string_view message);

// Says what failed and gives the code to exit with.
[[nodiscard]] int report(const Failure& failure);

// From now on Ctrl-C writes `message` and ends with exit_code::interrupted, whatever the program is waiting for.
void detach_on_interrupt(std::string_view message);

}  // namespace mljobd::client
