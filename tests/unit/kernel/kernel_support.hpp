// A folder that goes away with the test, files in it, and programs that are run and watched.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "core/types.hpp"

namespace mljobd::kernel {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "mljobd-kernel-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void write_text(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline unsigned mode_of(const std::string& path) {
  return static_cast<unsigned>(std::filesystem::status(path).permissions());
}

template <class Expected>
auto value_of(Expected expected) {
  if (!expected) FAIL(expected.error().message);
  return *std::move(expected);
}

struct ProgramEnd {
  int code = -1;  // 128 + signal when killed
  std::string output{};
  std::string error{};
};

// Runs it with its output and error going to files in the directory.
inline ProgramEnd run_program(const TemporaryDirectory& directory, const std::vector<std::string>& command) {
  const std::string output = directory / "stdout";
  const std::string error = directory / "stderr";
  std::string line;
  for (const auto& word : command) line += "'" + word + "' ";
  const int status = std::system((line + ">" + output + " 2>" + error).c_str());
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return {.code = code, .output = read_text(output), .error = read_text(error)};
}

}  // namespace mljobd::kernel
