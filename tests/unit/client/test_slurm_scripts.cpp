// Scripts as people write them for Slurm, and the job that each has to become.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "client/script/script_file.hpp"
#include "client/script/script_request.hpp"
#include "client/values.hpp"

using namespace mljobd::client;
using namespace mljobd;

namespace {

const Surroundings around{.workdir = "/home/alice",
                          .total_memory = core::Bytes{64} << 30,
                          .now = core::RealTime(std::chrono::seconds(1'800'000'000))};
const std::vector<std::string> environment{"HOME=/home/alice", "PATH=/usr/bin"};

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Show {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int32_t number) const { return std::to_string(number); }
  std::string operator()(std::uint32_t number) const { return std::to_string(number); }
  std::string operator()(std::uint64_t number) const { return std::to_string(number); }
  std::string operator()(const core::SignalAndTime& signal) const {
    return std::to_string(signal.first) + " " + std::to_string(signal.second);
  }
  std::string operator()(const core::StringPairs& pairs) const {
    std::string text;
    for (const auto& [kind, job] : pairs) text += (text.empty() ? "" : ",") + kind + ":" + job;
    return text;
  }
  std::string operator()(const core::StringMap& map) const {
    std::string text;
    for (const auto& [key, entry] : map) text += (text.empty() ? "" : ",") + key + "=" + entry;
    return text;
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return "a type that no directive gives";
  }
};

std::string shown(const core::Value& value) { return std::visit(Show{}, value.storage); }

std::string shown(const ScriptRequest& request) {
  std::string text;
  for (const auto& [key, value] : request.spec) text += key + " " + shown(value) + "\n";
  if (request.tasks.value_or(1) != 1) text += "tasks " + std::to_string(*request.tasks) + "\n";
  if (request.all_memory) text += "all memory\n";
  for (const auto& list : request.exports) text += "export " + list + "\n";
  for (const auto& notice : request.notices) text += "notice " + to_sentence(notice) + "\n";
  return text;
}

std::string job_of(const std::filesystem::path& path) {
  const auto script = parse_script(path.filename().string(), read(path));
  REQUIRE(script);
  REQUIRE(*script);
  ScriptRequest request;
  const ScriptContext context{.surroundings = around, .environment = environment};
  const auto applied = apply_directives((*script)->directives, context, request);
  INFO((applied ? "" : applied.error().reason));
  REQUIRE(applied);
  REQUIRE(complete(around, request));
  return shown(request);
}

std::string complaint_about(const std::string& text) {
  const auto script = parse_script("s.sh", text);
  if (!script) return to_sentence("s.sh", script.error());
  REQUIRE(*script);
  ScriptRequest request;
  const ScriptContext context{.surroundings = around, .environment = environment};
  if (const auto applied = apply_directives((*script)->directives, context, request); !applied) {
    return to_sentence("s.sh", applied.error());
  }
  const auto completed = complete(around, request);
  REQUIRE_FALSE(completed);
  return to_sentence("s.sh", completed.error());
}

}  // namespace

TEST_CASE("a script for Slurm becomes the job that its author meant") {
  std::size_t scripts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MLJOBD_FIXTURES "/slurm")) {
    auto expected = entry.path();
    if (expected.extension() == ".expected") continue;
    INFO(expected.filename().string());
    CHECK(job_of(entry.path()) == read(expected.replace_extension(".expected")));
    ++scripts;
  }
  CHECK(scripts == 10);
}

TEST_CASE("a malformed script is refused with the line and the reason") {
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"#!/bin/sh\n\n#SBATCH --comment='no end\n", "s.sh:3: a quote is opened and not closed"},
      {"#!/bin/sh\n#SBATCH --cpu-per-task=4\n",
       "s.sh:2: there is no option '--cpu-per-task': did you mean --cpus-per-task?"},
      {"#!/bin/sh\n#SBATCH -t\n", "s.sh:2: -t needs a value"},
      {"#!/bin/sh\n# x\n#SBATCH --nodes=2-4\n",
       "s.sh:3: --nodes: the job needs 2 machines and there is one here; ask for 1, with --ntasks for several "
       "processes"},
      {"#!/bin/sh\n#SBATCH --time=2h\n",
       "s.sh:2: --time: '2h' is not a time limit: write minutes, m:s, h:m:s, d-h, d-h:m or d-h:m:s"},
      {"#!/bin/sh\n#SBATCH --mem=1.5G\n",
       "s.sh:2: --mem: '1.5G' is not an amount of memory: write a whole number of megabytes, or 16G"},
      {"#!/bin/sh\n#SBATCH --array=5-1\n",
       "s.sh:2: --array: '5-1' is not a list of array indices: a range runs from the smaller number to the larger"},
      {"#!/bin/sh\n#SBATCH -c 0\n", "s.sh:2: --cpus-per-task: '0' is not a whole number from 1 to 8192"},
      {"#!/bin/sh\n#SBATCH -n2\n#SBATCH hetjob\n",
       "s.sh:3: a job of different parts needs several machines and there is one here; submit the parts as jobs of "
       "their own"},
      {"#!/bin/sh\n#SBATCH --job-name = night\n",
       "s.sh:2: 'night' is no option: write --name=value without blanks, and a value that has blanks in quotes"},
      {"#!/bin/sh\n#SBATCH --dependency=afterok:$PREVIOUS\n",
       "s.sh:2: --dependency: '$PREVIOUS' is not replaced by a value here: give the list on the command line, where a "
       "shell replaces it"},
      {"#!/bin/sh\n#SBATCH --dependency=aftercorr:4\n",
       "s.sh:2: --dependency: 'aftercorr' is nothing a job can wait for here: there are afterok, afterany, afternotok "
       "and after (or ok, any, notok and start)"},
      {"#!/bin/sh\n#SBATCH --signal=NOSUCH@5\n",
       "s.sh:2: --signal: 'NOSUCH@5' is not a signal and a time before the limit: write it as in USR1@60, TERM@5m or "
       "B:10@120 (at most 65535 seconds)"},
      {"#!/bin/sh\n#SBATCH --hold=yes\n", "s.sh:2: --hold takes no value, but is given 'yes'"},
      {"#!/bin/sh\n#SBATCH --mem-p=4\n", "s.sh:2: '--mem-p' could be any of --mem-per-cpu, --mem-per-gpu"},
      {"#!/bin/sh\n#SBATCH --input=data.txt\n",
       "s.sh:2: --input: standard input is empty; write `exec < FILE` into the script"},
      {"#!/bin/sh\n#JOB --mem 4\n",
       "s.sh:2: --mem: '4' has no unit: write 4M (as Slurm reads it) or 4B (as systemd does)"},
      {"#!/bin/sh\n#SBATCH -n 8192 -c 2\n", "s.sh: --ntasks times --cpus-per-task is more cores than any machine has"},
      {"\n#!/bin/sh\n#SBATCH -n 2\n",
       "s.sh:1: it holds directives (line 3) but does not begin with #!, as in #!/bin/bash"},
      {"#!\n#SBATCH -n 2\n", "s.sh:1: #! names no interpreter: write #!/bin/bash"},
      {std::string("#!/bin/sh\n#SBATCH -n 2\n\0", 24), "s.sh:1: it holds a NUL byte: it is no text"},
  }));
  CHECK(complaint_about(text) == expected);
}

TEST_CASE("options of the command line beat directives") {
  ScriptRequest request;
  const ScriptContext context{.surroundings = around, .environment = environment};
  const std::vector<Directive> directives{
      {.line = 2, .words = {"--mem-per-cpu=1G", "-c", "8", "-n", "2", "-o", "slurm.out", "--signal=B:USR1@9"}}};
  REQUIRE(apply_directives(directives, context, request));
  SECTION("a new number of cores multiplies the memory") {
    overlay({{"cpus", core::Value(std::uint32_t{3})}}, request);
    REQUIRE(complete(around, request));
    CHECK(find_value<std::uint64_t>(request.spec, "memory") == std::uint64_t{3} << 30);
    CHECK(request.tasks == 2);
  }
  SECTION("memory is taken as it is said") {
    overlay({{"memory", core::Value(core::Bytes{5})}}, request);
    REQUIRE(complete(around, request));
    CHECK(find_value<std::uint64_t>(request.spec, "memory") == 5);
    CHECK(find_value<std::uint32_t>(request.spec, "cpus") == 16);
  }
  SECTION("a signal of jobctl's reaches the main process, as always") {
    overlay({{"warn_signal", core::Value(core::SignalAndTime(10, 1))}}, request);
    CHECK_FALSE(request.spec.contains("warn_signal_to"));
  }
  SECTION("a file of jobctl's is appended to, as always") {
    overlay({{"output", core::Value("/x")}}, request);
    REQUIRE(complete(around, request));
    CHECK(text_or_empty(request.spec, "output") == "/x");
    CHECK_FALSE(request.spec.contains("open_mode"));
  }
}

TEST_CASE("of a script it is what the kernel would run that runs") {
  const auto script = parse_script("a.py", "\xEF\xBB\xBF#! /usr/bin/env  -S python3 -u \r\nprint(1)\r\nx = '\r'\r\n");
  REQUIRE(script);
  REQUIRE(*script);
  CHECK((*script)->interpreter == std::vector<std::string>{"/usr/bin/env", "-S python3 -u"});
  CHECK((*script)->content == "#! /usr/bin/env  -S python3 -u \nprint(1)\nx = '\r'\n");
  CHECK((*script)->line_ends_converted);

  SECTION("line ends stay where the first line has none of DOS") {
    const auto mixed = parse_script("a.sh", "#!/bin/sh\nprintf 'a\r\n'\r\n");
    CHECK((*mixed)->content == "#!/bin/sh\nprintf 'a\r\n'\r\n");
    CHECK_FALSE((*mixed)->line_ends_converted);
  }
  SECTION("what does not begin with #! and holds no directive is no script") {
    CHECK_FALSE(*parse_script("a", "echo hello\n"));
    CHECK_FALSE(*parse_script("a", ""));
    CHECK_FALSE(*parse_script("a", std::string("\x7F"
                                               "ELF\0\0",
                                               6)));
  }
}
