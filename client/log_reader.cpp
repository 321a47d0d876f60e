#include "client/log_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/output.hpp"

namespace mljobd::client {
namespace {

constexpr std::size_t chunk = std::size_t{128} << 10;

tl::unexpected<Failure> unreadable() {
  return fail(exit_code::failed, std::string("the log cannot be read: ") + std::strerror(errno));
}

Outcome<off_t> size_of(int log) {
  struct stat status = {};
  if (::fstat(log, &status) != 0) return unreadable();
  return status.st_size;
}

// The next data at or after `from`; `end` if there is none. A file system that knows no holes is all data.
off_t next_data(int log, off_t from, off_t end) {
  const off_t found = ::lseek(log, from, SEEK_DATA);
  if (found < 0) return errno == ENXIO ? end : from;
  return std::min(found, end);
}

off_t next_hole(int log, off_t from, off_t end) {
  const off_t found = ::lseek(log, from, SEEK_HOLE);
  return found < 0 ? end : std::min(found, end);
}

struct Segment {
  off_t begin;
  off_t end;
};

std::vector<Segment> data_segments(int log, off_t end) {
  std::vector<Segment> segments;
  // The daemon punches one hole; a file with very many cannot be one of its logs and is read as it comes.
  constexpr std::size_t most = 1024;
  off_t at = 0;
  while (at < end && segments.size() < most) {
    const off_t begin = next_data(log, at, end);
    if (begin >= end) break;
    at = next_hole(log, begin, end);
    segments.push_back({.begin = begin, .end = at});
  }
  if (at < end && segments.size() == most) segments.push_back({.begin = at, .end = end});
  return segments;
}

}  // namespace

Outcome<off_t> tail_start(int log, std::uint64_t lines) {
  const auto size = size_of(log);
  if (!size || *size == 0) return size;
  if (lines == 0) return *size;
  std::vector<char> buffer(chunk);
  const auto segments = data_segments(log, *size);
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    off_t end = segment->end;
    while (end > segment->begin) {
      const off_t begin = std::max(segment->begin, end - static_cast<off_t>(chunk));
      const auto wanted = static_cast<std::size_t>(end - begin);
      const auto got = ::pread(log, buffer.data(), wanted, begin);
      if (got < 0) return unreadable();
      for (auto at = static_cast<off_t>(got) - 1; at >= 0; --at) {
        // The line break at the very end closes the last line and begins none.
        if (buffer[static_cast<std::size_t>(at)] != '\n' || begin + at == *size - 1) continue;
        if (--lines == 0) return begin + at + 1;
      }
      end = begin;
    }
  }
  return 0;
}

LogReader::LogReader(int log, off_t start, std::function<void(core::Bytes)> hole)
    : log_(log), offset_(start), hole_(std::move(hole)) {}

Outcome<void> LogReader::copy_available(int out) {
  const auto size = size_of(log_);
  if (!size) return tl::unexpected(size.error());
  while (offset_ < *size) {
    const off_t data = next_data(log_, offset_, *size);
    if (data > offset_) hole_(static_cast<core::Bytes>(data - offset_));
    offset_ = data;
    if (auto copied = copy_data(next_hole(log_, data, *size), out); !copied) return copied;
  }
  return {};
}

Outcome<void> LogReader::copy_data(off_t end, int out) {
  static std::array<char, chunk> buffer;
  while (offset_ < end) {
    const auto wanted = std::min(chunk, static_cast<std::size_t>(end - offset_));
    const auto got = ::pread(log_, buffer.data(), wanted, offset_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable();
    if (got == 0) return {};
    // The daemon may punch its hole here while we read; what it had dropped would come out as zeros.
    if (next_data(log_, offset_, end) != offset_ || next_hole(log_, offset_, end) < offset_ + got) return {};
    if (!write_all(out, std::string_view(buffer.data(), static_cast<std::size_t>(got)))) {
      return fail(exit_code::failed, std::string("cannot write the log to standard output: ") + std::strerror(errno));
    }
    offset_ += got;
  }
  return {};
}

}  // namespace mljobd::client
