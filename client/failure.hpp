// What a command could not do: the sentence for the person and the code to exit with.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

#include "client/exit_codes.hpp"

namespace mljobd::client {

struct Failure {
  int exit_code = exit_code::failed;
  std::string message{};
  bool daemon_gone = false;  // nobody answers at the daemon's name: who waits may try again

  bool operator==(const Failure&) const = default;
};

template <class T>
using Outcome = tl::expected<T, Failure>;

[[nodiscard]] inline tl::unexpected<Failure> fail(int code, std::string message) {
  return tl::unexpected<Failure>(Failure{.exit_code = code, .message = std::move(message)});
}

[[nodiscard]] inline tl::unexpected<Failure> usage_failure(std::string message) {
  return fail(exit_code::usage, std::move(message));
}

}  // namespace mljobd::client
