// A script as it was given: found, read within bounds, and understood as far as it takes to run a copy of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "client/failure.hpp"
#include "client/script/directives.hpp"

namespace mljobd::client {

inline constexpr std::size_t maximum_script = std::size_t{4} << 20;  // Slurm's max_script_size, 4 MiB

struct Script {
  std::string name{};     // base name, for people
  std::string content{};  // what will run
  std::vector<std::string> interpreter{};
  std::vector<Directive> directives{};
  bool line_ends_converted = false;  // it had the line ends of DOS
};

// Pure. Empty: the text does not begin with "#!". A byte order mark before it is dropped, and where the first line ends
// with CRLF all line ends are converted: as it was, the kernel would not have found the interpreter, so nothing that
// ever worked is changed. As the kernel has it, what follows the interpreter is one argument.
// Errors: directives that cannot be read, or stand in a text with NUL bytes or without a "#!" line (line 1); no
// interpreter behind it.
[[nodiscard]] tl::expected<std::optional<Script>, Complaint> parse_script(std::string_view name, std::string text);

// How the command was given to `jobctl submit`: as "FILE ARGUMENTS" or behind "--".
enum class CommandForm { bare, behind_dashes };

// The script that a command's first word stands for; empty: it is an ordinary command. That is so
//   - if it is no path to a regular file of text that begins with "#!",
//   - if it has no '/' and PATH knows a program of this name: an "ls" that lies in this directory is not taken for ls,
//   - if it stands behind "--" and holds no directive: then the file runs where it lies.
// Errors: a file that holds directives but cannot be a script, or is larger than maximum_script.
[[nodiscard]] Outcome<std::optional<Script>> find_script(const std::string& word, CommandForm form);

// sbatch's reading: the file has to be a script, wherever it lies.
[[nodiscard]] Outcome<Script> read_script(const std::string& path);
// From standard input, until its end.
[[nodiscard]] Outcome<Script> read_script_from(int fd);

// "train.sh:7: REASON"; "train.sh: REASON" for line 0.
[[nodiscard]] std::string to_sentence(std::string_view file, const Complaint& complaint);

}  // namespace mljobd::client
