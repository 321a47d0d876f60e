// What PID 1 is asked to create, as plain values. The alternatives of PropertyValue are the D-Bus types that systemd's
// transient properties use, so that sending them is a conversion without choices.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/types.hpp"

namespace mljobd::systemd {

enum class ManagerScope { system, user };

// The program gets exactly these arguments: what PID 1 would expand in them is escaped when they are sent.
struct ExecCommand {
  std::string path{};  // absolute, or a bare name that ExecSearchPath finds
  std::vector<std::string> argv{};

  bool operator==(const ExecCommand&) const = default;
};

using PropertyValue =
    std::variant<bool, std::int32_t, std::uint32_t, std::uint64_t, std::string, std::vector<std::uint8_t>,
                 std::vector<std::string>, std::vector<std::uint32_t>, std::vector<ExecCommand>,
                 std::vector<std::pair<std::string, bool>>, std::vector<std::pair<std::string, std::string>>>;

struct UnitProperty {
  std::string name{};
  PropertyValue value{};

  bool operator==(const UnitProperty&) const = default;
};

struct UnitRequest {
  std::string name{};
  std::vector<UnitProperty> properties{};
  // Units created with it. Where one of them exists already as a transient unit, the whole request is refused.
  std::vector<std::pair<std::string, std::vector<UnitProperty>>> auxiliary{};

  bool operator==(const UnitRequest&) const = default;
};

// PID 1 writes transient units to files, unescaped but for the arguments of commands, and reads them again at every
// daemon-reload: a line break in a user's string would become a setting of its own there, run as root, and a backslash
// at the end would swallow the next one. Errors: invalid_spec, naming the property.
[[nodiscard]] core::Expected<void> check_fits_unit_file(const std::vector<UnitProperty>& properties);
[[nodiscard]] core::Expected<void> check_fits_unit_file(const UnitRequest& request);

}  // namespace mljobd::systemd
