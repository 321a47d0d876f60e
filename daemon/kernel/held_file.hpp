// A file of the kernel that is held open and read again and again. To open one takes memory, which under pressure is
// what there is not: the reader would wait in reclaim with those that it is to watch. A read takes none.
#pragma once

#include <span>
#include <string_view>

#include "kernel/unique_fd.hpp"

namespace mljobd::kernel {

struct HeldText {
  std::string_view text{};  // in the buffer it was read into
  int error = 0;            // errno; the text is empty then
};

// Costs a descriptor and, since the kernel keeps the page it writes the text into, about 5 KiB of the kernel's memory.
class HeldFile {
 public:
  // One that cannot be opened reads as that error (errno) for ever. `name` is relative to `directory`.
  HeldFile(int directory, const char* name);

  // 0, or why it could not be opened.
  [[nodiscard]] int error() const { return error_; }

  // From its start, by one pread(2): all of a file that the kernel makes in one piece, as it does every file of a
  // cgroup that we read, and meminfo. Of a text that does not fit its whole lines are given.
  [[nodiscard]] HeldText read_piece(std::span<char> buffer) const;
  // From its start to its end, for files that come page by page: /proc/vmstat.
  [[nodiscard]] HeldText read_all(std::span<char> buffer) const;

 private:
  UniqueFd fd_;
  int error_ = 0;
};

}  // namespace mljobd::kernel
