// The database as files: created private, moved away whole.
#pragma once

#include <string>

#include "core/types.hpp"

namespace mljobd::store {

// Makes it, or takes other people's permissions from the one that is there. Errors: storage.
[[nodiscard]] core::Expected<void> ensure_private_file(const std::string& path);

// Renames it and its log files to PATH.damaged-UTC (…-wal, …-shm), where sqlite3(1) can open it; returns that name.
// Nothing may have it open. Errors: storage.
[[nodiscard]] core::Expected<std::string> move_aside(const std::string& path, core::RealTime now);

// Damage that is met while the daemon runs is remembered beside the file (PATH.suspect), so that the next start looks
// at all of it; a start that looks at all of it each time would take too long.
void raise_suspicion(const std::string& path) noexcept;
[[nodiscard]] bool is_suspect(const std::string& path);
void clear_suspicion(const std::string& path) noexcept;

}  // namespace mljobd::store
