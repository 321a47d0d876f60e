// What data lies on, as far as the number of its readers is concerned.
#pragma once

#include <string>
#include <string_view>

namespace mljobd::core {

enum class StorageType { unknown, nvme, ssd, hdd, network, memory };

struct Storage {
  StorageType type = StorageType::unknown;
  std::string device{};  // "nvme0n1", "sda"; of several below a volume the slowest; empty if no device is known

  bool operator==(const Storage&) const = default;
};

// "nvme", "ssd", "hdd", "network", "memory", "unknown".
[[nodiscard]] std::string_view to_word(StorageType type);
// A disk of a virtual machine (vda, xvda): what it says of itself is what its host chose to say.
[[nodiscard]] bool is_virtual(const Storage& storage);

}  // namespace mljobd::core
