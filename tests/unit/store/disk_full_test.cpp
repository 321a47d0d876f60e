// A full disk is found by the night's last job: nothing may be half-written, and work goes on when space is back.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include <catch2/catch.hpp>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "store/store.hpp"
#include "store_support.hpp"

namespace mljobd::store {
namespace {

// A file system of one mebibyte, where the process may mount one.
class SmallDisk {
 public:
  SmallDisk() : mounted_(mount("mljobd-test", directory_.path().c_str(), "tmpfs", 0, "size=1M") == 0) {
    if (!mounted_) std::cerr << "skipped: cannot mount a small tmpfs: " << std::strerror(errno) << '\n';
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
  }

  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] std::string database() const { return directory_.database(); }
  [[nodiscard]] std::string ballast() const { return directory_.path() + "/ballast"; }
  void fill() const {
    std::ofstream file(ballast(), std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void free_space() const { std::filesystem::remove(ballast()); }

 private:
  TemporaryDirectory directory_;
  bool mounted_;
};

core::Job large_job(core::JobId id) {
  core::Job job = job_with(id);
  job.spec.environment = {"LARGE=" + std::string(20'000, 'x')};
  return job;
}

TEST_CASE("a full disk refuses the change, keeps what was, and is forgotten when space is back") {
  const SmallDisk disk;
  if (!disk.mounted()) return;
  auto store = value_of(Store::open(disk.database()));
  require_success(store.save({.jobs = {large_job(1)}}));
  disk.fill();

  core::JobId next = 2;
  auto saved = store.save({.jobs = {large_job(next)}});
  while (saved && next < 100) saved = store.save({.jobs = {large_job(++next)}});
  REQUIRE_FALSE(saved);
  CHECK(saved.error() ==
        core::Error{core::ErrorCode::storage, "cannot write job records to " + disk.database() +
                                                  ": the disk is full; free space there, nothing was changed"});
  CHECK(value_of(store.load(1)) == large_job(1));
  CHECK_FALSE(value_of(store.load(next)).has_value());
  CHECK(value_of(store.last_id()) == next - 1);
  CHECK_FALSE(store.save({.jobs = {large_job(next)}}));

  disk.free_space();
  require_success(store.save({.jobs = {large_job(next)}}));
  CHECK(value_of(store.load(next)) == large_job(next));
  const auto reopened = value_of(Store::open(disk.database()));
  CHECK_FALSE(reopened.set_aside().has_value());
  CHECK(value_of(reopened.load_unfinished()).size() == next);
}

TEST_CASE("a store that is begun on a full disk says so and begins when space is back") {
  const SmallDisk disk;
  if (!disk.mounted()) return;
  disk.fill();
  const auto opened = Store::open(disk.database());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find("cannot") == 0);
  CHECK(opened.error().message.find(disk.database()) != std::string::npos);
  disk.free_space();
  const auto store = value_of(Store::open(disk.database()));
  CHECK_FALSE(store.set_aside().has_value());
}

TEST_CASE("history can be pruned on a full disk only if it says so or does so") {
  const SmallDisk disk;
  if (!disk.mounted()) return;
  auto store = value_of(Store::open(disk.database()));
  require_success(store.save({.jobs = {finished_job(1, at(5)), finished_job(2, at(500))}}));
  disk.fill();
  const auto pruned = store.prune(at(100), 10);
  const auto left = value_of(store.finished_count());
  CHECK(left == (pruned ? 1U : 2U));
}

}  // namespace
}  // namespace mljobd::store
