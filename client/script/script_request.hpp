// What a script asks for: its directives, and what was said on the command line, as one specification. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "client/script/directives.hpp"
#include "client/script/slurm_options.hpp"
#include "client/spec_options.hpp"
#include "core/value.hpp"

namespace mljobd::client {

// What was left out, for one reason: said once.
struct Notice {
  std::string reason{};
  struct Place {
    std::string option{};  // "--mail-type"
    std::size_t line = 0;  // 0: the command line
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places{};

  bool operator==(const Notice&) const = default;
};

struct ScriptRequest {
  core::ValueMap spec{};  // keys of the D-Bus contract
  std::vector<Notice> notices{};

  // What the specification has no key for, or only once everything is known.
  std::optional<std::uint32_t> tasks{};
  std::optional<std::uint32_t> cpus_per_task{};
  std::optional<core::Bytes> memory_per_cpu{};
  bool all_memory = false;             // as much as jobs may use, which the daemon knows
  std::vector<std::string> exports{};  // as for --export; empty: not said
  std::string slurm_output{};          // as written: relative to the job's working directory
  std::string slurm_error{};
  bool wait = false;
  bool parsable = false;
  bool test_only = false;
  std::optional<std::string> wrap{};
};

struct ScriptContext {
  const Surroundings& surroundings;
  std::span<const std::string> environment;  // of the caller, "KEY=value"
};

// Adds sbatch's options in their order; what comes later replaces what came before.
// Errors: a value that is none, or an option without which another result would come out.
[[nodiscard]] tl::expected<void, Complaint> apply_slurm(std::span<const SlurmUse> uses, const ScriptContext& context,
                                                        ScriptRequest& request);

// "#SBATCH" lines in Slurm's reading, "#JOB" lines as the options of `jobctl submit`. Errors: as above, with the line.
[[nodiscard]] tl::expected<void, Complaint> apply_directives(std::span<const Directive> directives,
                                                             const ScriptContext& context, ScriptRequest& request);

// Options of `jobctl submit` from the command line: they win.
void overlay(core::ValueMap spec, ScriptRequest& request);

// Once everything has been added: cores and memory are multiplied out, paths made absolute against the job's working
// directory (which is set if it was not said). Errors: more cores than there can be (8192).
[[nodiscard]] tl::expected<void, Complaint> complete(const Surroundings& surroundings, ScriptRequest& request);

// "--mail-type (line 5), --mail-user (line 6) left out: no mail is sent …".
[[nodiscard]] std::string to_sentence(const Notice& notice);

}  // namespace mljobd::client
