#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/script/script_environment.hpp"
#include "client/script/script_file.hpp"
#include "client/script/script_store.hpp"

using namespace mljobd::client;
using namespace mljobd;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

// A folder of the test's own, which is the present one meanwhile.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("mljobd-script-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
    fs::current_path(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    fs::current_path(before_, error);
    fs::remove_all(path_, error);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  fs::path before_ = fs::current_path();
  fs::path path_;
};

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool is_script(const std::string& word, CommandForm form) {
  const auto found = find_script(word, form);
  REQUIRE(found);
  return found->has_value();
}

void age(const fs::path& folder, std::chrono::seconds moment) {
  const timespec time{.tv_sec = moment.count(), .tv_nsec = 0};
  const timespec both[] = {time, time};
  REQUIRE(::utimensat(AT_FDCWD, folder.c_str(), both, 0) == 0);
}

}  // namespace

TEST_CASE("what a command's first word stands for") {
  const Folder folder;
  folder.write("train.sh", "#!/bin/sh\n#SBATCH -c 4\ntrue\n");
  folder.write("plain.sh", "#!/bin/sh\ntrue\n");
  folder.write("notes", "read me\n");
  folder.write("ls", "#!/bin/sh\n#SBATCH -c 4\n");
  folder.write("program", std::string("\x7F"
                                      "ELF\x02\x01\0\0",
                                      8) +
                              std::string(std::size_t{5} << 20, 'x'));
  folder.write("installer.run", std::string("#!/bin/sh\nexit\n\0\x01", 17));
  folder.write("large.run", "#!/bin/sh\nexit\n" + std::string(maximum_script, 'x'));
  ::setenv("PATH", "/usr/bin:/bin", 1);

  CHECK(is_script("train.sh", CommandForm::bare));
  CHECK(is_script("./train.sh", CommandForm::behind_dashes));
  CHECK(is_script("plain.sh", CommandForm::bare));
  CHECK_FALSE(is_script("plain.sh", CommandForm::behind_dashes));  // runs where it lies, as ever
  CHECK_FALSE(is_script("ls", CommandForm::bare));
  CHECK(is_script("./ls", CommandForm::bare));
  CHECK_FALSE(is_script("notes", CommandForm::bare));
  CHECK_FALSE(is_script("./program", CommandForm::bare));
  CHECK_FALSE(is_script("./installer.run", CommandForm::bare));
  CHECK_FALSE(is_script("./large.run", CommandForm::bare));
  CHECK_FALSE(is_script("missing", CommandForm::bare));
  CHECK_FALSE(is_script(".", CommandForm::bare));
}

TEST_CASE("a script that cannot run is refused before it is queued") {
  const Folder folder;
  folder.write("a.sh", "#!/no/such/shell\n#SBATCH -c 4\n");
  CHECK(find_script("./a.sh", CommandForm::bare).error().message ==
        "./a.sh:1: the interpreter '/no/such/shell' is not here; install it or name another");
  folder.write("b.sh", "#!/bin/sh\n#SBATCH -c 4\n" + std::string(maximum_script, '#'));
  CHECK_THAT(find_script("./b.sh", CommandForm::bare).error().message, Catch::Contains("is larger than 4M"));
  folder.write("c.txt", "echo\n");
  CHECK(read_script("c.txt").error().message == "c.txt:1: a script begins with #!, as in #!/bin/bash");
  CHECK(read_script("missing.sh").error().exit_code == 2);
}

TEST_CASE("a copy of the script is kept that nobody else can read and that stays what it was") {
  const Folder folder;
  const ScriptStore store(folder.path() / "state/scripts/system");
  Script script{.name = "train.sh", .content = "#!/bin/sh\necho 1\n"};
  CHECK_FALSE(fs::exists(store.path_of(script)));

  const auto kept = store.keep(script);
  REQUIRE(kept);
  CHECK(*kept == store.path_of(script));
  CHECK(kept->filename() == "train.sh");
  CHECK(content(*kept) == script.content);
  CHECK(fs::status(*kept).permissions() == (fs::perms::owner_read | fs::perms::owner_exec));
  CHECK(fs::status(kept->parent_path()).permissions() == fs::perms::owner_all);

  SECTION("the same script is kept once") {
    CHECK(*store.keep(script) == *kept);
    CHECK(std::distance(fs::directory_iterator(kept->parent_path()), {}) == 1);
  }
  SECTION("an edited one is another") {
    Script edited = script;
    edited.content = "#!/bin/sh\necho 2\n";
    CHECK(*store.keep(edited) != *kept);
    CHECK(content(*kept) == script.content);
  }
  SECTION("of two with one hash, each keeps its content") {
    fs::permissions(*kept, fs::perms::owner_all);
    std::ofstream(*kept) << "#!/bin/sh\nrm -r x\n";
    const auto again = store.keep(script);
    REQUIRE(again);
    CHECK(*again != *kept);
    CHECK(content(*again) == script.content);
  }
  SECTION("a place that cannot be written to is said") {
    folder.write("file", "");
    const auto refused = ScriptStore(folder.path() / "file").keep(script);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Catch::Contains("XDG_STATE_HOME"));
  }
}

TEST_CASE("only copies that were not used for long are given up") {
  const Folder folder;
  const ScriptStore store(folder.path() / "scripts");
  const Script old_script{.name = "old.sh", .content = "#!/bin/sh\n# old\n"};
  const Script new_script{.name = "new.sh", .content = "#!/bin/sh\n# new\n"};
  const auto old_folder = store.keep(old_script)->parent_path();
  const auto new_folder = store.keep(new_script)->parent_path();
  fs::create_directory(folder.path() / "scripts/not ours");
  for (const auto& entry : fs::directory_iterator(folder.path() / "scripts"))
    age(entry.path(), std::chrono::seconds(1000));
  REQUIRE(store.keep(new_script));  // used again

  const core::RealTime moment(std::chrono::seconds(2000));
  CHECK(store.unused_since(moment) == std::vector<fs::path>{old_folder});
  CHECK(store.unused_since(core::RealTime(std::chrono::seconds(500))).empty());
  store.remove(store.unused_since(moment));
  CHECK_FALSE(fs::exists(old_folder));
  CHECK(fs::exists(new_folder));
  CHECK(fs::exists(folder.path() / "scripts/not ours"));
}

TEST_CASE("the copies belong to the user's state") {
  ::setenv("HOME", "/home/alice", 1);
  const Script script{.name = "a.sh", .content = "#!/bin/sh\n"};
  ::setenv("XDG_STATE_HOME", "relative", 1);
  CHECK_THAT(ScriptStore::of_user(Bus::system)->path_of(script).string(),
             Catch::StartsWith("/home/alice/.local/state/mljobd/scripts/system/"));
  ::setenv("XDG_STATE_HOME", "/var/state", 1);
  CHECK_THAT(ScriptStore::of_user(Bus::session)->path_of(script).string(),
             Catch::StartsWith("/var/state/mljobd/scripts/user/"));
  ::unsetenv("XDG_STATE_HOME");
  ::unsetenv("HOME");
  CHECK_FALSE(ScriptStore::of_user(Bus::system));
}

TEST_CASE("a script finds the variables of Slurm that are known when it is submitted") {
  const ScriptSurroundings around{
      .submit_directory = "/home/alice", .host = "box.lan", .stand_ins = "/usr/libexec/mljobd/slurm"};
  const core::ValueMap spec{{"name", "night"}, {"cpus", std::uint32_t{8}}, {"memory", core::Bytes{4} << 30}};
  CHECK(script_environment({"PATH=/bin", "SLURM_JOB_NAME=outer", "PATHS=x"}, spec, 2, around) ==
        Words{"PATH=/usr/libexec/mljobd/slurm:/bin",
              "SLURM_JOB_NAME=night",
              "PATHS=x",
              "SLURM_SUBMIT_DIR=/home/alice",
              "SLURM_SUBMIT_HOST=box",
              "SLURM_JOB_NODELIST=box",
              "SLURM_NODELIST=box",
              "SLURMD_NODENAME=box",
              "SLURM_JOB_NUM_NODES=1",
              "SLURM_NNODES=1",
              "SLURM_NTASKS=2",
              "SLURM_NPROCS=2",
              "SLURM_TASKS_PER_NODE=2",
              "SLURM_PROCID=0",
              "SLURM_LOCALID=0",
              "SLURM_NODEID=0",
              "SLURM_CPUS_PER_TASK=4",
              "SLURM_CPUS_ON_NODE=8",
              "SLURM_JOB_CPUS_PER_NODE=8",
              "SLURM_MEM_PER_NODE=4096",
              "MLJOBD_STAND_INS=/usr/libexec/mljobd/slurm"});
  SECTION("what was not asked for is not there") {
    for (const auto& variable : script_environment({}, {{"name", "x"}}, 1, around)) {
      CHECK_FALSE(variable.starts_with("SLURM_CPUS"));
      CHECK_FALSE(variable.starts_with("SLURM_MEM"));
      CHECK_FALSE(variable.starts_with("MLJOBD_USER"));
    }
  }
  SECTION("the stand-ins are first on the path once") {
    const auto once = script_environment({}, {}, 1, around);
    CHECK(once.back() == "PATH=/usr/libexec/mljobd/slurm:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin");
    CHECK(script_environment(once, {}, 1, around).back() == once.back());
  }
}
