// mljob-launch as PID 1 runs it: with the job's log as its output.
#include <filesystem>

#include <catch2/catch.hpp>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

const std::string launch = MLJOBD_LAUNCH;

TEST_CASE("output and error go where the user asked, and the program's code comes back") {
  const TemporaryDirectory directory;
  const auto end = run_program(directory, {launch, "--output", directory / "out", "--error", directory / "err", "--",
                                           "sh", "-c", "echo text; echo trouble >&2; exit 7"});
  CHECK(end.code == 7);
  CHECK(read_text(directory / "out") == "text\n");
  CHECK(read_text(directory / "err") == "trouble\n");
  CHECK(end.output.empty());
  CHECK(end.error.empty());
}

TEST_CASE("without an error file both go to the output's, in their order, after what was there") {
  const TemporaryDirectory directory;
  write_text(directory / "out", "yesterday\n");
  const auto end = run_program(
      directory, {launch, "--output", directory / "out", "--", "sh", "-c", "echo one; echo two >&2; echo three"});
  CHECK(end.code == 0);
  CHECK(read_text(directory / "out") == "yesterday\none\ntwo\nthree\n");
}

TEST_CASE("files are emptied before the program if that was asked for") {
  const TemporaryDirectory directory;
  write_text(directory / "out", "yesterday\n");
  const auto end = run_program(directory, {launch, "--open-mode", "truncate", "--output", directory / "out", "--error",
                                           directory / "out", "--", "sh", "-c", "echo one; echo two >&2"});
  CHECK(end.code == 0);
  CHECK(read_text(directory / "out") == "one\ntwo\n");
}

TEST_CASE("an error file alone leaves the output in the job's log") {
  const TemporaryDirectory directory;
  const auto end =
      run_program(directory, {launch, "--error", directory / "err", "--", "sh", "-c", "echo text; echo trouble >&2"});
  CHECK(end.output == "text\n");
  CHECK(end.error.empty());
  CHECK(read_text(directory / "err") == "trouble\n");
}

TEST_CASE("the program gets its arguments as they are") {
  const TemporaryDirectory directory;
  const auto end = run_program(
      directory, {launch, "--output", directory / "out", "--", "printf", "[%s]", "--output", "two words", "--", ""});
  CHECK(end.code == 0);
  CHECK(read_text(directory / "out") == "[--output][two words][--][]");
}

TEST_CASE("the program holds the files and the job's log by no descriptor but 1 and 2") {
  const TemporaryDirectory directory;
  const auto end =
      run_program(directory, {launch, "--output", directory / "out", "--error", directory / "err", "--", "find",
                              "/proc/self/fd", "-lname", directory.path() + "/*", "-printf", "%f=%l\\n"});
  CHECK(end.code == 0);
  CHECK(read_text(directory / "err").empty());
  CHECK(read_text(directory / "out") == "1=" + (directory / "out") + "\n2=" + (directory / "err") + "\n");
}

TEST_CASE("a new file obeys the user's umask") {
  const TemporaryDirectory directory;
  const auto end = run_program(
      directory, {"sh", "-c", "umask 027; exec \"$@\"", "sh", launch, "--output", directory / "out", "--", "true"});
  CHECK(end.code == 0);
  CHECK(mode_of(directory / "out") == 0640);
}

TEST_CASE("a program that cannot be run is told in the job's log, with systemd's code") {
  const TemporaryDirectory directory;
  const auto end = run_program(directory, {launch, "--output", directory / "out", "--", "/nonexistent/program"});
  CHECK(end.code == 203);
  CHECK(end.error == "mljob-launch: cannot run /nonexistent/program: No such file or directory\n");
  CHECK(read_text(directory / "out").empty());
}

TEST_CASE("a file that cannot be opened is told in the job's log, with systemd's code") {
  const TemporaryDirectory directory;
  const std::string bad = directory / "no/such/folder";
  const auto output = run_program(directory, {launch, "--output", bad, "--", "touch", directory / "ran"});
  CHECK(output.code == 209);
  CHECK(output.error == "mljob-launch: cannot open " + bad + " for the job's output: No such file or directory\n");
  const auto error = run_program(directory, {launch, "--error", bad, "--", "touch", directory / "ran"});
  CHECK(error.code == 222);
  CHECK(error.error == "mljob-launch: cannot open " + bad + " for the job's error output: No such file or directory\n");
  CHECK_FALSE(std::filesystem::exists(directory / "ran"));
}

TEST_CASE("encoded arguments are read back, the program and the files among them") {
  const TemporaryDirectory directory;
  const auto end = run_program(directory, {launch, "--encoded", "--output", directory / "a=3Db=3Bc", "--", "printf",
                                           "[%s]", "=3B", "a=3D=3D=3Bb", "plain", ""});
  CHECK(end.code == 0);
  CHECK(read_text(directory / "a=b;c") == "[;][a==;b][plain][]");
}

TEST_CASE("a signal that is to be ignored does not end the program") {
  const TemporaryDirectory directory;
  const auto end =
      run_program(directory, {launch, "--ignore-signal", "10", "--", "sh", "-c", "kill -USR1 $$; echo survived"});
  CHECK(end.code == 0);
  CHECK(end.output == "survived\n");
}

TEST_CASE("arguments that make no sense are refused") {
  const TemporaryDirectory directory;
  const std::vector<std::vector<std::string>> wrong{{},
                                                    {"--"},
                                                    {"true"},
                                                    {"--output"},
                                                    {"--output", "x"},
                                                    {"--output", "x", "--"},
                                                    {"--append", "x", "--", "true"},
                                                    {"--ignore-signal", "0", "--", "true"},
                                                    {"--ignore-signal", "USR1", "--", "true"},
                                                    {"--encoded"},
                                                    {"--encoded", "--", "a="},
                                                    {"--encoded", "--", "a=3"},
                                                    {"--encoded", "--", "a=3b"},
                                                    {"--encoded", "--", "a=XX"}};
  for (auto arguments : wrong) {
    arguments.insert(arguments.begin(), launch);
    const auto end = run_program(directory, arguments);
    CHECK(end.code == 2);
    CHECK_THAT(end.error, Catch::StartsWith("usage: mljob-launch "));
  }
}

}  // namespace
}  // namespace mljobd::kernel
