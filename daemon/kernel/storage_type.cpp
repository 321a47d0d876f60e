#include "kernel/storage_type.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>

#include "kernel/cgroup_parsers.hpp"
#include "kernel/files.hpp"
#include "kernel/text.hpp"

namespace mljobd::kernel {
namespace {

using core::Storage;
using core::StorageType;

// Of hosts with many containers; a longer list is cut, and its last mounts are not seen.
constexpr std::size_t mountinfo_limit = std::size_t{1} << 20;
// Volumes on RAID on encrypted partitions are three deep.
constexpr int deepest_volume = 8;
constexpr std::size_t most_parts = 64;

// The kernel writes blanks, tabs, line breaks and backslashes as \ooo.
std::string unescaped(std::string_view text) {
  std::string plain;
  const auto octal = [](char digit) { return digit >= '0' && digit <= '7'; };
  while (!text.empty()) {
    if (text.size() >= 4 && text[0] == '\\' && octal(text[1]) && octal(text[2]) && octal(text[3])) {
      plain.push_back(static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0')));
      text.remove_prefix(4);
    } else {
      plain.push_back(text.front());
      text.remove_prefix(1);
    }
  }
  return plain;
}

bool is_at_or_below(std::string_view path, std::string_view point) {
  if (point == "/") return true;
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

bool is_clean(std::string_view path) {
  if (!path.starts_with('/')) return false;
  while (!path.empty()) {
    if (take_until(path, '/') == "..") return false;
  }
  return true;
}

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The worst of several decides how long a read may take.
int slowness(StorageType type) {
  constexpr std::array order{StorageType::nvme, StorageType::ssd, StorageType::unknown, StorageType::hdd};
  return static_cast<int>(std::find(order.begin(), order.end(), type) - order.begin());
}

// "DEVNAME=sda2"
std::string value_in(std::string_view uevent, std::string_view key) {
  while (!uevent.empty()) {
    std::string_view line = take_until(uevent, '\n');
    if (take_until(line, '=') == key) return std::string(line);
  }
  return {};
}

std::vector<std::string> names_in(int directory, const char* name) {
  auto opened = open_directory(directory, name);
  if (!opened) return {};
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened->get()), ::closedir);
  if (!stream) return {};
  (void)opened->release();  // the stream closes it
  std::vector<std::string> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's alone
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view part = static_cast<const char*>(entry->d_name);
    if (!part.starts_with('.') && names.size() < most_parts) names.emplace_back(part);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Storage disk(int device) {
  const auto uevent = read_file_at(device, "uevent");
  Storage storage{.device = uevent ? value_in(*uevent, "DEVNAME") : ""};
  const auto rotational = read_file_at(device, "queue/rotational");
  const auto turns = rotational ? parse_number(*rotational) : std::nullopt;
  if (storage.device.starts_with("nvme")) {
    storage.type = StorageType::nvme;
  } else if (turns) {
    storage.type = *turns != 0 ? StorageType::hdd : StorageType::ssd;
  }
  return storage;
}

// `device` is the directory of a block device in /sys/devices.
Storage block_device(int device, int depth) {
  if (read_file_at(device, "partition")) {
    const auto whole = open_directory(device, "..");
    return whole ? block_device(whole->get(), depth) : Storage{};
  }
  std::optional<Storage> slowest;
  for (const auto& part : names_in(device, "slaves")) {
    const auto below = open_directory(device, ("slaves/" + part).c_str());
    if (!below || depth >= deepest_volume) continue;
    auto storage = block_device(below->get(), depth + 1);
    if (!slowest || slowness(storage.type) > slowness(slowest->type)) slowest = std::move(storage);
  }
  return slowest ? *slowest : disk(device);
}

// btrfs shows a device number that no block device has, but names its device as the source. The word is never opened
// as a path: for some file systems it is whatever the user who mounted them says.
std::string source_device(const Mount& mount) {
  constexpr std::string_view devices = "/dev/";
  const std::string_view source = mount.source;
  if (!source.starts_with(devices)) return {};
  const std::string_view name = source.substr(devices.size());
  if (name.empty() || name.find('/') != std::string_view::npos || name.starts_with('.')) return {};
  return "sys/class/block/" + std::string(name);
}

}  // namespace

std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view path) {
  if (!is_clean(path)) return std::nullopt;
  std::optional<Mount> found;
  std::size_t longest = 0;
  while (!mountinfo.empty()) {
    // "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
    std::string_view line = take_until(mountinfo, '\n');
    constexpr std::string_view separator = " - ";
    const auto middle = line.find(separator);
    if (middle == std::string_view::npos) continue;
    std::string_view after = line.substr(middle + separator.size());
    (void)take_until(line, ' ');
    (void)take_until(line, ' ');
    const auto device = take_until(line, ' ');
    (void)take_until(line, ' ');
    const auto point = unescaped(take_until(line, ' '));
    // Of two at one place the later covers the earlier.
    if (point.size() < longest || !is_at_or_below(path, point)) continue;
    longest = point.size();
    found.emplace();
    found->device = device;
    found->type = take_until(after, ' ');
    found->source = unescaped(take_until(after, ' '));
  }
  return found;
}

core::Storage storage_of(const std::string& path, const std::string& root) {
  const auto top = open_directory(AT_FDCWD, root.c_str());
  if (!top) return {};
  const auto mountinfo = read_start_of_file_at(top->get(), "proc/1/mountinfo", mountinfo_limit);
  const auto mount = mountinfo ? find_mount(*mountinfo, path) : std::nullopt;
  if (!mount) return {};
  constexpr std::array<std::string_view, 2> in_memory{"tmpfs", "ramfs"};
  constexpr std::array<std::string_view, 8> remote{"nfs",  "nfs4",   "cifs",   "smb3",
                                                   "ceph", "lustre", "beegfs", "fuse.sshfs"};
  if (is_one_of(mount->type, in_memory)) return {.type = StorageType::memory};
  if (is_one_of(mount->type, remote)) return {.type = StorageType::network};
  auto device = open_directory(top->get(), ("sys/dev/block/" + mount->device).c_str());
  if (!device) device = open_directory(top->get(), source_device(*mount).c_str());
  return device ? block_device(device->get(), 0) : Storage{};
}

}  // namespace mljobd::kernel
