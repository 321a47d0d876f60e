#include "kernel/reclaim_target.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "kernel/cgroup_directory.hpp"
#include "kernel/cgroup_parsers.hpp"
#include "kernel/held_file.hpp"
#include "kernel/pressure_parsers.hpp"

namespace mljobd::kernel {
namespace {

constexpr std::size_t buffer_size = 8192;

class CgroupReclaimTarget : public ReclaimTarget {
 public:
  CgroupReclaimTarget(const CgroupDirectory& directory, UniqueFd reclaim)
      : reclaim_(std::move(reclaim)),
        current_(directory.fd.get(), "memory.current"),
        stat_(directory.fd.get(), "memory.stat") {}

  FileExpected<HeldMemory> look() override {
    std::array<char, buffer_size> buffer;
    const HeldText current_text = current_.read_piece(buffer);
    if (current_text.error != 0) return file_failure("read", "memory.current", current_text.error);
    const auto current = parse_number(current_text.text);
    const HeldText stat_text = stat_.read_piece(buffer);
    if (stat_text.error != 0) return file_failure("read", "memory.stat", stat_text.error);
    const MemoryStat stat = parse_memory_stat(stat_text.text);
    return HeldMemory{.current = current.value_or(0), .swappable = stat.anon + stat.shmem};
  }

  int reclaim(core::Bytes amount) override {
    const std::string text = std::to_string(amount);
    return ::write(reclaim_.get(), text.data(), text.size()) < 0 ? errno : 0;
  }

 private:
  UniqueFd reclaim_;
  HeldFile current_;
  HeldFile stat_;
};

}  // namespace

core::Expected<std::unique_ptr<ReclaimTarget>> open_reclaim_target(const std::string& root, const std::string& path) {
  const auto directory = open_cgroup(root, path);
  if (!directory) return tl::unexpected(directory.error());
  auto file = open_at(directory->fd.get(), "memory.reclaim", O_WRONLY | O_NOCTTY);
  if (!file && file.error().number == ENOENT) {
    return core::failure(core::ErrorCode::storage,
                         "the memory of " + directory->path +
                             " cannot be moved out to swap: it has no memory.reclaim, which takes Linux 5.19 and the "
                             "memory controller");
  }
  if (!file) return tl::unexpected<core::Error>(file.error());
  auto target = std::make_unique<CgroupReclaimTarget>(*directory, std::move(*file));
  if (const auto held = target->look(); !held) return tl::unexpected<core::Error>(held.error());
  return target;
}

}  // namespace mljobd::kernel
