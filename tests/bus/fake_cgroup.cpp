#include "fake_cgroup.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

#include "core/unit_names.hpp"

namespace mljobd::test {
namespace {

// Without a moment in which the file is empty; a text is as long as the one before.
void write_over(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("cannot write " + path);
  }
  close(file);
}

std::string padded(std::uint64_t number) {
  constexpr std::size_t digits = 18;
  const auto text = std::to_string(number);
  return std::string(digits - text.size(), '0') + text;
}

}  // namespace

FakeCgroup::FakeCgroup(const std::string& root, const std::string& path) : directory_(root + "/" + path) {
  std::filesystem::create_directories(directory_);
  set_memory(0);
  for (const auto& [name, text] : {std::pair{"memory.max", "max\n"},
                                   {"memory.high", "max\n"},
                                   {"memory.swap.current", "0\n"},
                                   {"memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n"},
                                   {"cpu.stat", "usage_usec 1000000\n"},
                                   {"cgroup.events", "populated 1\nfrozen 0\n"},
                                   {"cgroup.kill", "0"}}) {
    write_over(directory_ + "/" + name, text);
  }
}

void FakeCgroup::set_limit(std::uint64_t bytes) const { std::ofstream(directory_ + "/memory.max") << bytes << '\n'; }

void FakeCgroup::set_memory(std::uint64_t bytes) const {
  const auto number = padded(bytes);
  write_over(directory_ + "/memory.current", number + "\n");
  write_over(directory_ + "/memory.stat", "anon " + number + "\nfile 0\nshmem 0\nsock 0\n");
}

bool FakeCgroup::was_killed() const {
  std::ifstream file(directory_ + "/cgroup.kill");
  return std::string(std::istreambuf_iterator<char>(file), {}).starts_with('1');
}

FakeCgroup job_cgroup(const std::string& house, const std::string& class_name, std::uint32_t id) {
  return {house + "/cgroup", core::class_slice_cgroup(class_name) + "/" + core::job_slice(class_name, id)};
}

}  // namespace mljobd::test
