#include "paths.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "kernel/process.hpp"

namespace mljobd {
namespace {

namespace fs = std::filesystem;

std::string from_environment(const char* name, std::string fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : std::move(fallback);
}

core::Expected<void> make_private_directory(const std::string& path) {
  std::error_code error;
  const bool existed = fs::is_directory(path, error);
  if (existed) return {};
  fs::create_directories(path, error);
  if (!error) fs::permissions(path, fs::perms::owner_all, error);
  if (!error) return {};
  return core::failure(core::ErrorCode::storage, "cannot create " + path + ": " + error.message());
}

Paths system_paths() {
  Paths paths;
  paths.state_directory = from_environment("STATE_DIRECTORY", "/var/lib/mljobd");
  paths.log_directory = from_environment("LOGS_DIRECTORY", "/var/log/mljobd");
  paths.runtime_directory = from_environment("RUNTIME_DIRECTORY", "/run/mljobd");
  const auto configuration = from_environment("CONFIGURATION_DIRECTORY", "/etc/mljobd");
  paths.configuration_file = configuration + "/config.json";
  paths.configuration_directory = configuration + "/conf.d";
  return paths;
}

// The manager runs us somewhere below its own cgroup, which ends in its unit's name.
std::string user_manager_cgroup() {
  const auto process = kernel::read_process(static_cast<std::uint32_t>(getpid()));
  if (!process) return "";
  const std::string unit = "/user@" + std::to_string(getuid()) + ".service";
  const auto at = process->cgroup.find(unit);
  if (at == std::string::npos) return "";
  return process->cgroup.substr(1, at + unit.size() - 1) + "/";
}

Paths user_paths() {
  const auto home = from_environment("HOME", "/nonexistent");
  Paths paths;
  paths.scope = systemd::ManagerScope::user;
  paths.state_directory =
      from_environment("STATE_DIRECTORY", from_environment("XDG_STATE_HOME", home + "/.local/state") + "/mljobd");
  paths.log_directory = from_environment("LOGS_DIRECTORY", paths.state_directory + "/log");
  paths.runtime_directory = from_environment(
      "RUNTIME_DIRECTORY", from_environment("XDG_RUNTIME_DIR", "/run/user/" + std::to_string(getuid())) + "/mljobd");
  const auto configuration =
      from_environment("CONFIGURATION_DIRECTORY", from_environment("XDG_CONFIG_HOME", home + "/.config") + "/mljobd");
  paths.configuration_file = configuration + "/config.json";
  paths.configuration_directory = configuration + "/conf.d";
  paths.cgroup_prefix = user_manager_cgroup();
  return paths;
}

}  // namespace

core::Expected<Paths> find_paths(systemd::ManagerScope scope) {
  Paths paths = scope == systemd::ManagerScope::system ? system_paths() : user_paths();
  paths.cgroup_root = from_environment("MLJOBD_CGROUP_ROOT", "/sys/fs/cgroup");
  paths.launcher = from_environment("MLJOBD_LAUNCHER", MLJOBD_LAUNCHER_PATH);
  for (const auto* directory : {&paths.state_directory, &paths.log_directory, &paths.runtime_directory}) {
    if (const auto made = make_private_directory(*directory); !made) return tl::unexpected(made.error());
  }
  return paths;
}

}  // namespace mljobd
