// The memory that the load holds: really touched, and with bytes that no compressed swap can shrink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "options.hpp"

namespace mljobd::load {

// Anonymous memory up to a bound, filled from its start on. Address space is reserved at once, so that a growing one
// never moves. Unmapped at the end.
class ResidentMemory {
 public:
  explicit ResidentMemory(std::uint64_t bound);
  ResidentMemory(const ResidentMemory&) = delete;
  ResidentMemory& operator=(const ResidentMemory&) = delete;
  ~ResidentMemory();

  // Fills this many bytes more, as far as the bound allows.
  void grow(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t size() const { return filled_; }
  [[nodiscard]] std::uint64_t bound() const { return bound_; }
  [[nodiscard]] std::span<std::uint64_t> words() const;

 private:
  std::uint64_t bound_;
  std::uint64_t filled_ = 0;
  std::byte* start_ = nullptr;
};

// A file in /dev/shm that is removed at the end, but stays when the process is killed, as those of a data loader do.
class SharedMemory {
 public:
  explicit SharedMemory(std::uint64_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

 private:
  std::string path_;
  std::uint64_t bytes_;
  void* start_ = nullptr;
};

// A read of the whole file; returns its size.
std::uint64_t read_whole_file(const std::string& path);

}  // namespace mljobd::load
