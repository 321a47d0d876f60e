// The texts of a specification: what each may contain, and how it is kept. Sizes are bounded because the daemon holds
// and stores them for every job; characters, because names and paths end up in unit files, logs and terminals.
// All errors are invalid_spec and name the key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::core {

// At most 128 bytes, printable, without '/'; nothing that reads as an id, an option or "@", the last job.
[[nodiscard]] Expected<std::string> check_name(std::string_view key, const std::string& name);
// Of a class only that it is text; whether it exists, the settings say.
[[nodiscard]] Expected<std::string> check_class_name(std::string_view key, const std::string& name);
// 1..4096 arguments of at most 128 KiB, together at most 1 MiB: what execve(2) takes.
[[nodiscard]] Expected<std::vector<std::string>> check_command(std::string_view key,
                                                               const std::vector<std::string>& command);
// At most 4096 of KEY=value, together at most 1 MiB; of one key the last counts. Exported bash functions are left out:
// every interactive bash may export some, and no program but bash reads them.
[[nodiscard]] Expected<std::vector<std::string>> check_environment(std::string_view key,
                                                                   const std::vector<std::string>& environment);
// Absolute; kept without "//", "." and "..", which are resolved by their letters, not through symbolic links.
[[nodiscard]] Expected<std::string> check_path(std::string_view key, const std::string& path);
// At most 128 bytes, printable.
[[nodiscard]] Expected<std::string> check_submission_key(std::string_view key, const std::string& text);
// At most 1024 bytes; lines and tabs are allowed.
[[nodiscard]] Expected<std::string> check_comment(std::string_view key, const std::string& comment);
// At most 64, keys and values of at most 128 bytes each.
[[nodiscard]] Expected<StringMap> check_labels(std::string_view key, const StringMap& labels);

// The base name of the program, or "job" where that is not a name that check_name takes.
[[nodiscard]] std::string default_job_name(const std::string& program);

}  // namespace mljobd::core
