// Reading a job's log: raw bytes, whatever the job wrote, with the hole that a bounded log has in its middle.
#pragma once

#include <functional>

#include <sys/types.h>

#include "client/failure.hpp"
#include "core/types.hpp"

namespace mljobd::client {

// Where the last `lines` lines begin. A last line without its end counts; memory is bounded however long a line is.
[[nodiscard]] Outcome<off_t> tail_start(int log, std::uint64_t lines);

class LogReader {
 public:
  // `hole` is called in its place with the number of bytes that were dropped.
  LogReader(int log, off_t start, std::function<void(core::Bytes)> hole);

  // Copies to `out` what is there and has not been copied. Errors: the log cannot be read, `out` takes no more.
  [[nodiscard]] Outcome<void> copy_available(int out);

 private:
  [[nodiscard]] Outcome<void> copy_data(off_t end, int out);

  int log_;
  off_t offset_;
  std::function<void(core::Bytes)> hole_;
};

}  // namespace mljobd::client
