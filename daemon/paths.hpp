// Where the daemon finds and keeps things, for the system or for one user's own daemon.
#pragma once

#include <string>

#include "core/types.hpp"
#include "systemd/unit_properties.hpp"

namespace mljobd {

struct Paths {
  systemd::ManagerScope scope = systemd::ManagerScope::system;
  std::string state_directory{};    // the database
  std::string log_directory{};      // the jobs' output
  std::string runtime_directory{};  // environment files; gone after a reboot
  std::string cgroup_root{};        // "/sys/fs/cgroup"
  std::string cgroup_prefix{};      // of the service manager, below the root: "" or "user.slice/…/user@1000.service/"
  std::string launcher{};           // mljob-launch
  std::string configuration_file{};
  std::string configuration_directory{};
};

// systemd's STATE_DIRECTORY and so on where set, else the usual places of the file-system and XDG standards; what is
// missing is created with mode 0700. Errors: storage, naming the directory.
[[nodiscard]] core::Expected<Paths> find_paths(systemd::ManagerScope scope);

}  // namespace mljobd
