#include "kernel/storage_type.hpp"

#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

using core::Storage;
using core::StorageType;

const std::string mounts =
    "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
    "30 22 8:1 / /data rw,relatime shared:2 - xfs /dev/sda1 rw\n"
    "31 22 253:1 / /data/cold\\040store rw master:3 propagate_from:2 - ext4 /dev/mapper/vg-cold rw\n"
    "32 22 0:40 /@home /home rw - btrfs /dev/nvme0n1p3 rw,subvol=/@home\n"
    "33 22 0:41 / /net rw - nfs4 server:/export rw\n"
    "34 22 0:42 / /dev/shm rw - tmpfs tmpfs rw\n"
    "35 22 0:43 / /fuse rw - fuse.evil /dev/../../../etc rw\n"
    "36 22 0:44 / /database rw - zfs tank/database rw\n"
    "not a line of the kernel's\n"
    "37 22 7:0 / /covered rw - ext4 /dev/loop0 rw\n"
    "38 37 0:45 / /covered rw - tmpfs cover rw\n";

// The devices of a machine below a folder, linked as in the kernel's tree.
class Machine {
 public:
  Machine() { write_text(root_ / "proc/1/mountinfo", mounts); }

  void disk(const std::string& name, const std::string& number, const std::string& rotational) const {
    const std::string directory = "sys/devices/pci0/" + name;
    write_text(root_ / (directory + "/uevent"), "MAJOR=1\nDEVNAME=" + name + "\nDEVTYPE=disk\n");
    write_text(root_ / (directory + "/queue/rotational"), rotational + "\n");
    link(directory, name, number);
  }
  void partition(const std::string& whole, const std::string& name, const std::string& number) const {
    const std::string directory = "sys/devices/pci0/" + whole + "/" + name;
    write_text(root_ / (directory + "/uevent"), "DEVNAME=" + name + "\nDEVTYPE=partition\n");
    write_text(root_ / (directory + "/partition"), "1\n");
    link(directory, name, number);
  }
  void part_of(const std::string& volume, const std::string& part) const {
    const std::string slaves = root_ / ("sys/devices/pci0/" + volume + "/slaves");
    std::filesystem::create_directories(slaves);
    const auto target = std::filesystem::canonical(root_ / ("sys/class/block/" + part));
    std::filesystem::create_directory_symlink(target, slaves + "/" + part);
  }
  [[nodiscard]] Storage of(const std::string& path) const { return storage_of(path, root_.path()); }

 private:
  void link(const std::string& directory, const std::string& name, const std::string& number) const {
    for (const auto& place : {"sys/dev/block/" + number, "sys/class/block/" + name}) {
      const std::filesystem::path link(root_ / place);
      std::filesystem::create_directories(link.parent_path());
      std::filesystem::create_directory_symlink(root_ / directory, link);
    }
  }

  TemporaryDirectory root_;
};

TEST_CASE("a path is on the mount that is nearest above it") {
  const auto device = [](std::string_view path) {
    const auto mount = find_mount(mounts, path);
    return mount ? mount->device : "none";
  };
  CHECK(device("/") == "259:2");
  CHECK(device("/data") == "8:1");
  CHECK(device("/data/set/") == "8:1");
  CHECK(device("/data/cold store/x") == "253:1");
  CHECK(device("/data/cold") == "8:1");
  CHECK(device("/database") == "0:44");
  CHECK(device("/databases") == "259:2");
  CHECK(device("/covered/x") == "0:45");
  CHECK(device("data") == "none");
  CHECK(device("") == "none");
  CHECK(device("/data/../home") == "none");
  CHECK(find_mount(mounts, "/home/a") == Mount{.device = "0:40", .type = "btrfs", .source = "/dev/nvme0n1p3"});
  CHECK_FALSE(find_mount("", "/"));
}

TEST_CASE("partitions are followed to their disk, and its name or its heads decide") {
  const Machine machine;
  machine.disk("nvme0n1", "259:0", "0");
  machine.partition("nvme0n1", "nvme0n1p2", "259:2");
  machine.partition("nvme0n1", "nvme0n1p3", "259:3");
  machine.disk("sda", "8:0", "1");
  machine.partition("sda", "sda1", "8:1");
  CHECK(machine.of("/srv/x") == Storage{.type = StorageType::nvme, .device = "nvme0n1"});
  CHECK(machine.of("/data/set") == Storage{.type = StorageType::hdd, .device = "sda"});
  // By the source, because btrfs has a device number of its own.
  CHECK(machine.of("/home/alice") == Storage{.type = StorageType::nvme, .device = "nvme0n1"});
}

TEST_CASE("of a volume the slowest part counts") {
  const Machine machine;
  machine.disk("sda", "8:0", "1");
  machine.partition("sda", "sda1", "8:1");
  machine.disk("nvme0n1", "259:0", "0");
  machine.disk("sdb", "8:16", "0");
  machine.disk("dm-0", "253:0", "0");
  machine.part_of("dm-0", "nvme0n1");
  machine.part_of("dm-0", "sdb");
  machine.disk("dm-1", "253:1", "0");
  machine.part_of("dm-1", "dm-0");
  CHECK(machine.of("/data/cold store") == Storage{.type = StorageType::ssd, .device = "sdb"});
  machine.part_of("dm-0", "sda1");
  CHECK(machine.of("/data/cold store") == Storage{.type = StorageType::hdd, .device = "sda"});
}

TEST_CASE("a volume that is a part of itself ends") {
  const Machine machine;
  machine.disk("dm-1", "253:1", "0");
  machine.part_of("dm-1", "dm-1");
  CHECK(machine.of("/data/cold store").device == "dm-1");
}

TEST_CASE("what is on no block device is said as it is") {
  const Machine machine;
  CHECK(machine.of("/net/x") == Storage{.type = StorageType::network});
  CHECK(machine.of("/dev/shm/x") == Storage{.type = StorageType::memory});
  CHECK(machine.of("/covered") == Storage{.type = StorageType::memory});
  CHECK(machine.of("/fuse/x") == Storage{});
  CHECK(machine.of("/database") == Storage{});
  CHECK(machine.of("/data") == Storage{});  // its device is not in /sys
  CHECK(storage_of("/", "/nonexistent") == Storage{});
}

TEST_CASE("a device that does not say whether it turns is unknown") {
  const Machine machine;
  machine.disk("sda", "8:0", "");
  machine.partition("sda", "sda1", "8:1");
  CHECK(machine.of("/data") == Storage{.type = StorageType::unknown, .device = "sda"});
}

}  // namespace
}  // namespace mljobd::kernel
