// The options of sbatch(1): how they are spelled, whether a value belongs to them, and what becomes of each here. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "client/script/directives.hpp"

namespace mljobd::client {

enum class SlurmTreatment {
  honoured,
  unimportant,  // makes no difference on one machine: not worth a word
  left_out,     // said once
  refused,      // leaving it out would change what comes out
};

enum class SlurmValue { none, required, optional };

struct SlurmOption {
  std::string_view name;  // long, without dashes
  char letter;            // '\0': none
  SlurmValue value;
  SlurmTreatment treatment;
  std::string_view reason;  // of left_out and refused: the half sentence after "NAME: "
};

struct SlurmUse {
  const SlurmOption* option = nullptr;  // never null
  std::size_t line = 0;                 // 0: on the command line
  std::string value{};                  // empty where none was given

  bool operator==(const SlurmUse&) const = default;
};

struct SlurmWords {
  std::vector<SlurmUse> uses{};
  std::vector<std::string> rest{};  // from the first word that is no option: on a command line, script and arguments
};

// As getopt_long(3) reads them: "--mem=4G", "--mem 4G", "-c4", "-c 4", "-Hc4", unambiguous beginnings of long names;
// optional values are given with '=' or directly behind the letter only; "--" ends the options.
// Errors: an option that does not exist, is ambiguous, lacks its value or has one too many.
[[nodiscard]] tl::expected<SlurmWords, Complaint> parse_slurm_words(std::span<const std::string> words,
                                                                    std::size_t line);

}  // namespace mljobd::client
