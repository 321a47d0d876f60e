#include "core/storage.hpp"

namespace mljobd::core {

std::string_view to_word(StorageType type) {
  switch (type) {
    case StorageType::nvme:
      return "nvme";
    case StorageType::ssd:
      return "ssd";
    case StorageType::hdd:
      return "hdd";
    case StorageType::network:
      return "network";
    case StorageType::memory:
      return "memory";
    case StorageType::unknown:
      break;
  }
  return "unknown";
}

bool is_virtual(const Storage& storage) {
  return storage.device.starts_with("vd") || storage.device.starts_with("xvd");
}

}  // namespace mljobd::core
