// The "#SBATCH" and "#JOB" lines of a script, cut into words as sbatch does it. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace mljobd::client {

enum class DirectiveKind { slurm, job };

struct Directive {
  DirectiveKind kind = DirectiveKind::slurm;
  std::size_t line = 0;  // from 1
  std::vector<std::string> words{};

  bool operator==(const Directive&) const = default;
};

// What is wrong with a script or a pipeline, and where. Line 0: the command line.
struct Complaint {
  std::size_t line = 0;
  std::string reason{};

  bool operator==(const Complaint&) const = default;
};

// Only the lines before the first command count: a line that is empty or a comment is none. A directive begins in the
// first column, in capitals: "##SBATCH", "#sbatch" and " #SBATCH" are comments. Words are separated by blanks; quotes
// of either kind hold blanks, a backslash takes the next character as it is (in quotes of either kind too, which is
// Slurm's way and no shell's), and a word that begins with '#' is a comment. Line ends may be CRLF; a UTF-8 byte order
// mark is skipped. Directives without words are left out.
// Errors: a quote that is not closed, and more than 4096 directives or 64 KiB in one of them.
[[nodiscard]] tl::expected<std::vector<Directive>, Complaint> read_directives(std::string_view script);

}  // namespace mljobd::client
