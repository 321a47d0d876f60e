// The ways in which programs make life hard for whoever runs them.
#pragma once

#include <cstdint>

namespace mljobd::load {

// A grandchild in a session of its own that stays until it is killed, with our standard output open; prints
// "daemon PID".
void leave_daemon();
// A child that has ended and is never waited for.
void leave_zombie();
void ignore_termination();
// Lines of 100 bytes, newline included, that all differ; the last one may be shorter.
void print_lines(std::uint64_t bytes);
// "\rprogress K/N" N times, then one newline.
void draw_progress(std::uint64_t times);

}  // namespace mljobd::load
