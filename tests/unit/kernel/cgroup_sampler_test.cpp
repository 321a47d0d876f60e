#include "kernel/cgroup_sampler.hpp"

#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include "kernel/cgroup_reader.hpp"
#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

using core::Microseconds;

const std::string fixtures = MLJOBD_FIXTURES "/cgroup";
const std::string job_path = "mljob.slice/mljob-train.slice/mljob-train-42.slice";

// A process that does nothing until it is ended.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::pause();
    ::_exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  [[nodiscard]] std::string file(const std::string& name) const { return "/proc/" + std::to_string(pid_) + "/" + name; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

TEST_CASE("a job's memory is sampled with everything that judges it") {
  const auto sampler = value_of(CgroupSampler::open(fixtures, "/" + job_path));
  CHECK(value_of(sampler.sample()) ==
        core::CgroupMemory{.current = 943718400,
                           .anon = 734003200,
                           .file = 157286400,
                           .shmem = 104857600,
                           .swap = 4096,
                           .unreclaimable_kernel = 262144 + 2097152 + 4096,
                           .high = core::unlimited,
                           .max = 1073741824,
                           .high_events = 0,
                           .oom_kills = 2,
                           .cpu_time = Microseconds(123456789),
                           .populated = true,
                           .memory_stalls = core::StallTotals{Microseconds(2500000), Microseconds(900000)},
                           .io_stalls = core::StallTotals{Microseconds(815), Microseconds(800)}});
}

TEST_CASE("a sample is of now, not of when the files were opened") {
  const TemporaryDirectory root;
  write_text(root / "job/memory.current", "4096\n");
  write_text(root / "job/memory.stat", "anon 4096\nworkingset_refault_anon 1\n");
  write_text(root / "job/memory.events", "high 1\noom_kill 0\n");
  write_text(root / "job/memory.high", "max\n");
  write_text(root / "job/cgroup.events", "populated 1\n");
  const auto sampler = value_of(CgroupSampler::open(root.path(), "job"));
  CHECK(value_of(sampler.sample()).anon == 4096);

  write_text(root / "job/memory.current", "900000\n");
  write_text(root / "job/memory.stat", "anon 800000\nworkingset_refault_anon 17\n");
  write_text(root / "job/memory.events", "high 9\noom_kill 1\n");
  write_text(root / "job/memory.high", "1048576\n");
  write_text(root / "job/cgroup.events", "populated 0\n");
  const auto memory = value_of(sampler.sample());
  CHECK(memory.current == 900000);
  CHECK(memory.anon == 800000);
  CHECK(memory.refaulted_anon_pages == 17);
  CHECK(memory.high_events == 9);
  CHECK(memory.oom_kills == 1);
  CHECK(memory.high == 1048576);
  CHECK_FALSE(memory.populated);
}

TEST_CASE("without PSI and swap accounting a job is still watched by its memory") {
  const TemporaryDirectory root;
  write_text(root / "job/memory.current", "4096\n");
  write_text(root / "job/memory.stat", "anon 4096\n");
  write_text(root / "job/cgroup.events", "populated 1\n");
  const auto memory = value_of(value_of(CgroupSampler::open(root.path(), "job")).sample());
  CHECK(memory == core::CgroupMemory{.current = 4096, .anon = 4096, .populated = true});
  CHECK(memory.max == core::unlimited);
  CHECK_FALSE(memory.memory_stalls);
  CHECK_FALSE(memory.io_stalls);
}

TEST_CASE("a cgroup without the memory controller is no job that uses nothing") {
  const auto sampler = CgroupSampler::open(fixtures, "user.slice");
  REQUIRE_FALSE(sampler);
  CHECK(sampler.error().code == core::ErrorCode::storage);
  CHECK_THAT(sampler.error().message, Catch::StartsWith("the cgroup user.slice has no memory.current: "));

  const TemporaryDirectory root;
  write_text(root / "job/memory.current", "nonsense\n");
  write_text(root / "job/cgroup.events", "populated 1\n");
  const auto junk = CgroupSampler::open(root.path(), "job");
  REQUIRE_FALSE(junk);
  CHECK(junk.error().message == "cannot read job/memory.current: Input/output error");
}

TEST_CASE("a cgroup that goes while its files are held is gone, not empty") {
  // Files of /proc end as a cgroup's do: held open, they stop answering when what they are about ends.
  Child child;
  const TemporaryDirectory root;
  write_text(root / "job/memory.current", "4096\n");
  write_text(root / "job/memory.stat", "anon 4096\n");
  std::filesystem::create_symlink(child.file("status"), root / "job/cgroup.events");
  const auto sampler = value_of(CgroupSampler::open(root.path(), "job"));
  CHECK(sampler.sample());
  child.end();
  const auto sample = sampler.sample();
  REQUIRE_FALSE(sample);
  CHECK(sample.error() == core::Error{core::ErrorCode::invalid_state, "the cgroup job is gone: its job has ended"});
}

TEST_CASE("a controller that is taken away from a living cgroup is told from its end") {
  Child child;
  const TemporaryDirectory root;
  write_text(root / "job/memory.current", "4096\n");
  std::filesystem::create_symlink(child.file("status"), root / "job/memory.stat");
  write_text(root / "job/cgroup.events", "populated 1\n");
  const auto sampler = value_of(CgroupSampler::open(root.path(), "job"));
  child.end();
  const auto sample = sampler.sample();
  REQUIRE_FALSE(sample);
  CHECK(sample.error() == core::Error{core::ErrorCode::storage, "cannot read job/memory.stat: No such process"});
}

TEST_CASE("paths are checked as everywhere") {
  CHECK(CgroupSampler::open(fixtures, "user.slice/../..").error().code == core::ErrorCode::invalid_spec);
  CHECK(CgroupSampler::open(fixtures, "absent.slice").error().code == core::ErrorCode::invalid_state);
}

TEST_CASE("a cgroup made anew under the same name has another id") {
  const TemporaryDirectory root;
  const auto make = [&root](const std::string& name) {
    write_text(root / (name + "/memory.current"), "4096\n");
    write_text(root / (name + "/memory.stat"), "anon 4096\n");
    write_text(root / (name + "/cgroup.events"), "populated 1\n");
  };
  make("job");
  const auto old = value_of(CgroupSampler::open(root.path(), "job"));
  CHECK(old.id() == value_of(Cgroup::open(root.path(), "job")).id());
  // Moved away rather than removed, so that the file system cannot give the number again.
  std::filesystem::rename(root / "job", root / "former");
  make("job");
  CHECK(old.id() != value_of(CgroupSampler::open(root.path(), "job")).id());
  CHECK(old.id() == value_of(Cgroup::open(root.path(), "former")).id());
}

TEST_CASE("a job is not watched with half of its files when descriptors run out") {
  struct rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto next = static_cast<rlim_t>(UniqueFd(::dup(0)).get());
  // Room for the directories of the path and a few of the ten files.
  for (rlim_t room = 3; room <= CgroupSampler::descriptors; ++room) {
    const struct rlimit narrow{.rlim_cur = next + room, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &narrow) == 0);
    const auto sampler = CgroupSampler::open(fixtures, job_path);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE_FALSE(sampler);
    CHECK(sampler.error().message == "cannot open the files of " + job_path + ": Too many open files");
  }
  CHECK(CgroupSampler::open(fixtures, job_path));
}

}  // namespace
}  // namespace mljobd::kernel
