// mljob-load: what the scenarios and comparisons take for granted about it.
#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>
#include <signal.h>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

const std::string load = MLJOBD_LOAD;

std::string field(const std::string& json, const std::string& name) {
  const std::string key = "\"" + name + "\": ";
  const auto start = json.find(key);
  if (start == std::string::npos) FAIL("no " << name << " in " << json);
  return json.substr(start + key.size(), json.find_first_of(",}", start) - start - key.size());
}

TEST_CASE("the same steps do the same work") {
  const TemporaryDirectory directory;
  const std::vector<std::string> command{load, "--memory", "16M", "--steps", "20", "--threads", "2", "--work", "1000"};
  const auto first = run_program(directory, command);
  const auto second = run_program(directory, command);
  CHECK(first.code == 0);
  CHECK(field(first.output, "steps") == "20");
  CHECK(field(first.output, "memory_bytes") == std::to_string(16 << 20));
  CHECK(field(first.output, "checksum") == field(second.output, "checksum"));
  auto longer = command;
  longer[4] = "21";
  CHECK(field(run_program(directory, longer).output, "checksum") != field(first.output, "checksum"));
}

TEST_CASE("threads that spin for each other do the work of those that sleep") {
  const TemporaryDirectory directory;
  std::vector<std::string> command{load, "--steps", "200", "--threads", "3", "--work", "1000"};
  const auto asleep = run_program(directory, command);
  command.insert(command.end(), {"--spin-us", "500"});
  const auto spinning = run_program(directory, command);
  CHECK(spinning.code == 0);
  CHECK(field(spinning.output, "steps") == "200");
  CHECK(field(spinning.output, "checksum") == field(asleep.output, "checksum"));
}

TEST_CASE("steps are counted aloud, kept apart and reported to a file") {
  const TemporaryDirectory directory;
  const auto end = run_program(directory, {load, "--steps", "3", "--step-ms", "50", "--work", "1", "--progress",
                                           "--report", directory / "report"});
  CHECK_THAT(end.output, Catch::StartsWith("step 1\nstep 2\nstep 3\n{"));
  CHECK(end.output.ends_with(read_text(directory / "report")));
  // Two pauses lie between three steps.
  CHECK(std::stod(field(end.output, "seconds")) >= 0.099);
  CHECK(std::stod(field(end.output, "slowest_gap_seconds")) >= 0.049);
}

TEST_CASE("a ramp takes its time") {
  const TemporaryDirectory directory;
  const auto start = std::chrono::steady_clock::now();
  const auto end = run_program(directory, {load, "--memory", "8M", "--ramp", "40M/s", "--steps", "1", "--work", "1"});
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(199));
  CHECK(field(end.output, "memory_bytes") == std::to_string(8 << 20));
}

TEST_CASE("output has the size asked for, in lines of 100 bytes") {
  const TemporaryDirectory directory;
  const auto end = run_program(directory, {load, "--print", "1050", "--exit", "3"});
  CHECK(end.code == 3);
  CHECK(end.output.size() == 1050);
  CHECK(std::count(end.output.begin(), end.output.end(), '\n') == 10);
  CHECK(end.output[99] == '\n');
  CHECK(end.output.substr(0, 100) != end.output.substr(100, 100));
  CHECK(run_program(directory, {load, "--carriage-returns", "2"}).output == "\rprogress 1/2\rprogress 2/2\n");
}

TEST_CASE("a daemon that it leaves behind lives on in a session of its own") {
  const TemporaryDirectory directory;
  const auto end = run_program(directory, {load, "--fork-daemon", "--zombie"});
  CHECK(end.code == 0);
  // Its standard output is the file that is read: it writes its number there in its own time.
  std::string output = end.output;
  for (int tries = 0; output.empty() && tries < 500; ++tries) {
    ::usleep(10'000);
    output = read_text(directory / "stdout");
  }
  REQUIRE_THAT(output, Catch::StartsWith("daemon "));
  const pid_t pid = std::stoi(output.substr(7));
  CHECK(::kill(pid, 0) == 0);
  CHECK(::getsid(pid) != ::getsid(0));
  ::kill(pid, SIGKILL);
}

TEST_CASE("one that ignores SIGTERM outlives it") {
  const TemporaryDirectory directory;
  const std::string send_term = "\"$@\" & sleep 0.1; kill -TERM $!; wait $!";
  const std::vector<std::string> steps{load, "--steps", "2", "--step-ms", "400", "--work", "1", "--exit", "5"};
  std::vector<std::string> command{"sh", "-c", send_term, "sh"};
  command.insert(command.end(), steps.begin(), steps.end());
  CHECK(run_program(directory, command).code == 128 + SIGTERM);
  command.emplace_back("--ignore-term");
  CHECK(run_program(directory, command).code == 5);
}

TEST_CASE("shared memory is gone when it ends well, and a mistake is code 2") {
  const TemporaryDirectory directory;
  CHECK(run_program(directory, {load, "--shm", "1M", "--exit", "4"}).code == 4);
  const auto left = std::filesystem::directory_iterator("/dev/shm");
  CHECK(std::none_of(begin(left), end(left),
                     [](const auto& entry) { return entry.path().filename().string().starts_with("mljob-load-"); }));
  CHECK(run_program(directory, {load, "--forever"}).code == 2);
  CHECK(run_program(directory, {load, "--memory", "lots"}).code == 2);
  CHECK(run_program(directory, {load, "--file-read", "/nonexistent"}).code == 1);
}

}  // namespace
}  // namespace mljobd::kernel
