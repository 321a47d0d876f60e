#include "systemd/unit_properties.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace mljobd;
using namespace mljobd::systemd;

namespace {

const JobFiles files{.log_path = "/var/log/mljobd/42.1", .environment_file = "/run/mljobd/42.1", .launcher = "/l"};

core::Job job_42() {
  core::Job job;
  job.id = 42;
  job.owner = 1001;
  job.owner_name = "alice";
  job.spec.name = "net";
  job.spec.class_name = "train";
  job.spec.command = {"python3", "train.py"};
  job.spec.workdir = "/home/alice";
  job.attempt.number = 1;
  return job;
}

const PropertyValue* find(const std::vector<UnitProperty>& properties, std::string_view name) {
  const auto matches = [&](const UnitProperty& property) { return property.name == name; };
  CHECK(std::count_if(properties.begin(), properties.end(), matches) <= 1);
  const auto found = std::find_if(properties.begin(), properties.end(), matches);
  return found == properties.end() ? nullptr : &found->value;
}

template <class T>
T get(const std::vector<UnitProperty>& properties, std::string_view name) {
  const auto* value = find(properties, name);
  INFO(name);
  REQUIRE(value != nullptr);
  REQUIRE(std::holds_alternative<T>(*value));
  return std::get<T>(*value);
}

UnitRequest request_for(const core::Job& job, ManagerScope scope = ManagerScope::system) {
  return job_request(job, core::default_settings(), {}, files, scope);
}

UnitRequest request_for(const core::Job& job, const JobFiles& own_files) {
  return job_request(job, core::default_settings(), {}, own_files, ManagerScope::system);
}

ExecCommand command_of(const UnitRequest& request) {
  const auto commands = get<std::vector<ExecCommand>>(request.properties, "ExecStart");
  REQUIRE(commands.size() == 1);
  return commands.front();
}

std::string text(const UnitRequest& request, std::string_view name) {
  return get<std::string>(request.properties, name);
}

}  // namespace

TEST_CASE("a batch job is a service in a slice of its own, created together") {
  const auto request = request_for(job_42());
  CHECK(request.name == "mljob-42-1.service");
  CHECK(text(request, "Slice") == "mljob-train-42.slice");
  REQUIRE(request.auxiliary.size() == 1);
  CHECK(request.auxiliary.front().first == "mljob-train-42.slice");
  CHECK(text(request, "Type") == "exec");
  CHECK(get<bool>(request.properties, "RemainAfterExit"));
  CHECK(text(request, "User") == "alice");
  CHECK(text(request, "WorkingDirectory") == "/home/alice");
  CHECK(text(request, "StandardOutputFileToAppend") == files.log_path);
  CHECK(text(request, "StandardErrorFileToAppend") == files.log_path);
  CHECK(get<std::uint64_t>(request.properties, "TimeoutStopUSec") == 30'000'000);
  CHECK_FALSE(get<bool>(request.properties, "DefaultDependencies"));
  CHECK(get<std::vector<std::string>>(request.properties, "After") == std::vector<std::string>{"sysinit.target"});
  CHECK(get<std::vector<std::string>>(request.properties, "Conflicts") == std::vector<std::string>{"shutdown.target"});
  CHECK(get<std::vector<std::string>>(request.properties, "Before") ==
        std::vector<std::string>{"shutdown.target", "mljobd.service"});
  CHECK_FALSE(get<bool>(request.properties, "IgnoreSIGPIPE"));
  CHECK(find(request.properties, "NoNewPrivileges") == nullptr);
  CHECK(find(request.properties, "Environment") == nullptr);
  using Files = std::vector<std::pair<std::string, bool>>;
  CHECK(get<Files>(request.properties, "EnvironmentFiles") == Files{{files.environment_file, false}});
}

TEST_CASE("who the job runs as is said only to the system's manager") {
  auto job = job_42();
  CHECK(find(request_for(job, ManagerScope::user).properties, "User") == nullptr);
  CHECK(find(request_for(job, ManagerScope::user).properties, "After") == nullptr);
  job.owner_name.clear();
  CHECK(text(request_for(job), "User") == "1001");
}

TEST_CASE("the command is found as the job's own shell would find it") {
  struct Row {
    std::vector<std::string> command;
    std::vector<std::string> environment;
    std::string path;
    std::vector<std::string> search;
  };
  const std::vector<Row> table{
      {{"python3"}, {}, "python3", {}},
      {{"python3"}, {"PATH=/opt/env/bin:/usr/bin"}, "python3", {"/opt/env/bin", "/usr/bin"}},
      {{"python3"}, {"PATH=/a", "PATH=/b"}, "python3", {"/b"}},
      {{"python3"}, {"PATH=:bin:.:/x/../y:/z/./q:/n\nl:/ok"}, "python3", {"/ok"}},
      {{"python3"}, {"PATH=bin:."}, "python3", {}},
      {{"/usr/bin/env"}, {"PATH=/opt"}, "/usr/bin/env", {}},
      {{"./train.sh", "-x"}, {"PATH=/opt"}, "/home/alice/./train.sh", {}},
      {{"bin/train"}, {}, "/home/alice/bin/train", {}},
  };
  for (const auto& row : table) {
    CAPTURE(row.command, row.environment);
    auto job = job_42();
    job.spec.command = row.command;
    job.spec.environment = row.environment;
    const auto request = request_for(job);
    CHECK(command_of(request).path == row.path);
    CHECK(command_of(request).argv == row.command);
    const auto* search = find(request.properties, "ExecSearchPath");
    CHECK((search == nullptr) == row.search.empty());
    if (search != nullptr) CHECK(std::get<std::vector<std::string>>(*search) == row.search);
  }
}

TEST_CASE("the user's own output files are opened by the launcher, never by PID 1") {
  auto job = job_42();
  job.spec.output = "/home/alice/%x";
  auto own_files = files;
  own_files.output = "/home/alice/out";
  const auto one = command_of(request_for(job, own_files));
  CHECK(one.path == "/l");
  CHECK(one.argv == std::vector<std::string>{"/l", "--output", "/home/alice/out", "--", "python3", "train.py"});
  own_files.error = "/home/alice/err";
  const auto request = request_for(job, own_files);
  CHECK(command_of(request).argv == std::vector<std::string>{"/l", "--output", "/home/alice/out", "--error",
                                                             "/home/alice/err", "--", "python3", "train.py"});
  CHECK(text(request, "StandardOutputFileToAppend") == files.log_path);
  own_files.error.clear();
  job.spec.open_mode = core::OpenMode::truncate;
  CHECK(command_of(request_for(job, own_files)).argv == std::vector<std::string>{"/l", "--open-mode", "truncate",
                                                                                 "--output", "/home/alice/out", "--",
                                                                                 "python3", "train.py"});
}

TEST_CASE("what PID 1 does not keep as it is across a reload reaches the job through the launcher") {
  auto job = job_42();
  job.spec.command = {"sh", "-c", "a=1; exit $a"};
  const auto command = command_of(request_for(job));
  CHECK(command.path == "/l");
  CHECK(command.argv == std::vector<std::string>{"/l", "--encoded", "--", "sh", "-c", "a=3D1=3B exit $a"});
  CHECK(goes_through_launcher(job.spec));
  job.spec.command = {"sh", "-c", "a=1"};
  CHECK_FALSE(goes_through_launcher(job.spec));
  CHECK(command_of(request_for(job)).argv == job.spec.command);
}

TEST_CASE("a script that is warned for its steps does not die of the warning itself") {
  auto job = job_42();
  job.spec.warn_signal = core::WarnSignal{.number = 10, .to = core::WarnSignal::To::steps};
  CHECK(command_of(request_for(job)).argv ==
        std::vector<std::string>{"/l", "--ignore-signal", "10", "--", "python3", "train.py"});
  job.spec.warn_signal->to = core::WarnSignal::To::main_process;
  CHECK(command_of(request_for(job)).path == "python3");
}

TEST_CASE("a restriction to CPUs is lifted by an empty mask") {
  CHECK(std::get<std::vector<std::uint8_t>>(allowed_cpus({}).value).empty());
  CHECK(std::get<std::vector<std::uint8_t>>(allowed_cpus({1, 9}).value) == std::vector<std::uint8_t>{2, 2});
}

TEST_CASE("a job never goes later than its class says when memory runs out") {
  auto job = job_42();
  const auto settings = core::default_settings();
  const auto of_class = core::find_class(settings, "train")->oom_score_adjust;
  CHECK(get<std::int32_t>(request_for(job).properties, "OOMScoreAdjust") == of_class);
  job.spec.limits.oom_score_adjust = -1000;
  CHECK(get<std::int32_t>(request_for(job).properties, "OOMScoreAdjust") == of_class);
  job.spec.limits.oom_score_adjust = 1000;
  CHECK(get<std::int32_t>(request_for(job).properties, "OOMScoreAdjust") == 1000);
  CHECK(text(request_for(job), "OOMPolicy") == "kill");
  job.spec.limits.oom_policy = core::OomPolicy::keep_running;
  CHECK(text(request_for(job), "OOMPolicy") == "continue");
}

TEST_CASE("a private /dev/shm is a tmpfs of the size that was asked for") {
  auto job = job_42();
  CHECK(find(request_for(job).properties, "TemporaryFileSystem") == nullptr);
  job.spec.limits.private_shm = 1024;
  using Mounts = std::vector<std::pair<std::string, std::string>>;
  CHECK(get<Mounts>(request_for(job).properties, "TemporaryFileSystem") ==
        Mounts{{"/dev/shm", "mode=1777,nosuid,nodev,size=1024"}});
  CHECK(find(request_for(job).properties, "PrivateUsers") == nullptr);
  CHECK(get<bool>(request_for(job, ManagerScope::user).properties, "PrivateUsers"));
}

TEST_CASE("limits are the slice's") {
  auto job = job_42();
  const auto plain = slice_properties(job, nullptr, {});
  CHECK(get<std::uint64_t>(plain, "CPUWeight") == 100);
  CHECK(get<std::uint64_t>(plain, "MemorySwapMax") == 0);
  for (const char* name : {"CPUAccounting", "MemoryAccounting", "IOAccounting", "TasksAccounting"}) {
    CHECK(get<bool>(plain, name));
  }
  for (const char* name : {"MemoryMax", "MemoryHigh", "TasksMax", "IOWeight", "CPUQuotaPerSecUSec", "AllowedCPUs"}) {
    CHECK(find(plain, name) == nullptr);
  }

  job.spec.limits = {.memory = 100,
                     .memory_max = 200,
                     .memory_high = 150,
                     .swap_max = 50,
                     .tasks_max = 7,
                     .cpu_weight = 300,
                     .io_weight = 20,
                     .cpu_quota_percent = 150,
                     .cpu_list = "0-2,9"};
  const auto full = slice_properties(job, nullptr, {0, 1, 2, 9});
  CHECK(get<std::uint64_t>(full, "MemoryMax") == 200);
  CHECK(get<std::uint64_t>(full, "MemoryHigh") == 150);
  CHECK(get<std::uint64_t>(full, "MemorySwapMax") == 50);
  CHECK(get<std::uint64_t>(full, "TasksMax") == 7);
  CHECK(get<std::uint64_t>(full, "CPUWeight") == 300);
  CHECK(get<std::uint64_t>(full, "IOWeight") == 20);
  CHECK(get<std::uint64_t>(full, "CPUQuotaPerSecUSec") == 1'500'000);
  CHECK(get<std::vector<std::uint8_t>>(full, "AllowedCPUs") == std::vector<std::uint8_t>{0b111, 0b10});

  const auto changed = changed_slice_properties(job.spec.limits);
  for (const auto& property : changed) CHECK(*find(full, property.name) == property.value);
  CHECK(changed.size() == 8);
}

TEST_CASE("the class's memory is the ceiling of a job that names none") {
  auto job = job_42();
  const core::JobClass small{.name = "small", .default_memory = 64};
  CHECK(get<std::uint64_t>(slice_properties(job, &small, {}), "MemoryMax") == 64);
  job.spec.limits.memory = 32;
  CHECK(get<std::uint64_t>(slice_properties(job, &small, {}), "MemoryMax") == 32);
  job.spec.limits.memory_max = core::unlimited;
  CHECK(find(slice_properties(job, &small, {}), "MemoryMax") == nullptr);
}

TEST_CASE("only what changes is sent") {
  CHECK(changed_slice_properties({}).empty());
  const auto lifted = changed_slice_properties({.memory_max = core::unlimited});
  REQUIRE(lifted.size() == 1);
  CHECK(get<std::uint64_t>(lifted, "MemoryMax") == core::unlimited);
}

TEST_CASE("a scope takes the processes as they are") {
  auto job = job_42();
  job.spec.kind = core::JobKind::foreground;
  const auto request = scope_request(job, core::default_settings(), {}, {10, 11}, ManagerScope::system);
  CHECK(request.name == "mljob-42-1.scope");
  CHECK(get<std::vector<std::uint32_t>>(request.properties, "PIDs") == std::vector<std::uint32_t>{10, 11});
  for (const char* name : {"User", "WorkingDirectory", "OOMScoreAdjust", "ExecStart", "Type", "EnvironmentFiles"}) {
    CHECK(find(request.properties, name) == nullptr);
  }
  REQUIRE(request.auxiliary.size() == 1);
  CHECK(request.auxiliary.front().second == request_for(job_42()).auxiliary.front().second);
}

TEST_CASE("classes share by weight, and everything stays below one ceiling") {
  const auto request = class_slice_request({.name = "train", .cpu_weight = 700, .io_weight = 600});
  CHECK(request.name == "mljob-train.slice");
  CHECK(get<std::uint64_t>(request.properties, "CPUWeight") == 700);
  CHECK(get<std::uint64_t>(request.properties, "IOWeight") == 600);
  CHECK(get<std::uint64_t>(root_slice_properties(1000), "MemoryMax") == 1000);
}
