// Names of output files that depend on the job: "logs/%x-%A_%4a.out". The letters are those of sbatch(1), so that
// a script written for Slurm writes where its author looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/types.hpp"

namespace mljobd::core {

struct PatternFacts {
  JobId id = 0;
  JobId array_id = 0;                    // of the array's first job; 0: the job is in no array
  std::optional<std::uint32_t> index{};  // of the element; empty: as above
  std::string_view name{};
  std::string_view user{};
  std::string_view host{};  // up to the first dot is used
};

// %j and %J the job's id, %A the array's id (the job's own outside an array), %a the index (0 outside an array), %b the
// same modulo 10, %x the name, %u the user, %N the host, %n, %s and %t the number of node, step and task (always 0),
// %% a percent sign. "%4a" fills a number up with zeros to a width of at most 10. A '/' in a name or a user becomes
// '_', so that neither chooses the folder. What is none of these stays as it is. As in Slurm a backslash anywhere
// switches all of this off, and is taken out itself.
// Errors: invalid_spec, where the result is longer than a path may be (4095 bytes).
[[nodiscard]] Expected<std::string> expand_file_pattern(std::string_view pattern, const PatternFacts& facts);

}  // namespace mljobd::core
