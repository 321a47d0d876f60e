// The options that say what a job may use, and the keys of the D-Bus specification that they stand for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/failure.hpp"
#include "client/units.hpp"
#include "core/value.hpp"

namespace CLI {
class App;
}

namespace mljobd::client {

// Who takes which options: a foreground job has its own terminal and environment, `set` changes limits only.
enum class SpecUse : unsigned { submit = 1U, run = 2U, adopt = 4U, set = 8U };

// As typed. Storage of the parser: must outlive it.
struct SpecOptions {
  std::map<std::string, std::string> texts{};  // by the option's long name without dashes
  std::vector<std::string> properties{};       // -p Name=value
  std::vector<std::string> labels{};           // --label K=V
  std::optional<bool> requeue{};
  bool hold = false;
  bool singleton = false;
  bool no_park = false;
};

void add_spec_options(CLI::App& app, SpecUse use, SpecOptions& options);

// The keys that were given, each once: -p and an option for the same key are refused rather than ordered.
// Errors: usage.
[[nodiscard]] Outcome<core::ValueMap> spec_from(SpecUse use, const SpecOptions& options,
                                                const Surroundings& surroundings);

// --checkpoint-grace belongs into the checkpoint_signal, which another line or the defaults of a pipeline may give:
// until all of them are read it is a key of its own, and this joins the two. Errors: usage, for a grace without a
// signal.
[[nodiscard]] Outcome<void> join_checkpoint(core::ValueMap& spec);

// One option by its long name without dashes, as a pipeline's stage gives it; requeue, hold, singleton, parkable,
// property and label are not among them. Errors: usage, for a name that spec_option_names does not list and for a wrong
// value.
[[nodiscard]] Outcome<void> add_spec_option(SpecUse use, std::string_view name, const std::string& text,
                                            const Surroundings& surroundings, core::ValueMap& spec);
[[nodiscard]] std::vector<std::string_view> spec_option_names(SpecUse use);

}  // namespace mljobd::client
