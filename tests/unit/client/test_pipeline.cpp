#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "client/files.hpp"
#include "client/pipeline/pipeline.hpp"
#include "client/pipeline/pipeline_graph.hpp"
#include "client/values.hpp"

using namespace mljobd::client;
using namespace mljobd;

namespace {

const Surroundings around{.workdir = "/home/alice", .total_memory = core::Bytes{64} << 30};

std::string complaints_about(const std::string& text) {
  const auto pipeline = parse_pipeline(text, around);
  REQUIRE_FALSE(pipeline);
  std::string lines;
  for (const auto& complaint : pipeline.error()) {
    lines += (lines.empty() ? "" : "\n") + std::to_string(complaint.line) + ": " + complaint.reason;
  }
  return lines;
}

std::string with_stages(const std::string& stages) { return "{\"version\": 1,\n\"stages\": [\n" + stages + "\n]}"; }

}  // namespace

TEST_CASE("a pipeline becomes jobs that name each other") {
  const auto pipeline = parse_pipeline(R"({
    // every night
    "version": 1, "name": "night",
    "defaults": {"class": "train", "mem": "4G", "requeue": true, "environment": {"EPOCHS": "3", "SEED": 7},
                 "labels": {"team": "vision", "kind": "none"}},
    "stages": [
      {"name": "prepare", "command": "./prepare && ./check", "class": "batch", "requeue": false,
       "parkable": false, "warmup": "1h", "checkpoint-signal": "USR1", "checkpoint-grace": "5m"},
      {"name": "train", "command": ["python3", "train.py"], "after": "prepare", "time": "8h", "cpus": 4,
       "array": "0-3%2", "environment": {"SEED": "1"}, "labels": {"kind": "train"}, "output": "logs/%a.log"},
      {"name": "report", "command": ["./report"], "after": [{"any": ["train", "prepare"]}, {"ok": 41}], "nice": 5}
    ]})",
                                       around);
  REQUIRE(pipeline);
  CHECK(pipeline->name == "night");
  REQUIRE(pipeline->stages.size() == 3);
  constexpr core::Bytes four = core::Bytes{4} << 30;
  CHECK(pipeline->stages[0].spec ==
        core::ValueMap{{"name", "prepare"},
                       {"class", "batch"},
                       {"memory", four},
                       {"requeue", false},
                       {"parkable", false},
                       {"warmup", std::uint64_t{3'600'000'000}},
                       {"checkpoint_signal", core::SignalAndTime{SIGUSR1, 60'000'000}},
                       {"checkpoint_grace", std::uint64_t{300'000'000}},
                       {"command", std::vector<std::string>{"/bin/sh", "-c", "./prepare && ./check"}},
                       {"labels", core::StringMap{{"team", "vision"}, {"kind", "none"}}}});
  CHECK(pipeline->stages[0].environment == core::StringMap{{"EPOCHS", "3"}, {"SEED", "7"}});
  CHECK(pipeline->stages[1].spec == core::ValueMap{{"name", "train"},
                                                   {"class", "train"},
                                                   {"memory", four},
                                                   {"requeue", true},
                                                   {"command", std::vector<std::string>{"python3", "train.py"}},
                                                   {"after", core::StringPairs{{"ok", "prepare"}}},
                                                   {"time_limit", std::uint64_t{28'800'000'000}},
                                                   {"cpus", std::uint32_t{4}},
                                                   {"array", "0-3%2"},
                                                   {"output", "/home/alice/logs/%a.log"},
                                                   {"labels", core::StringMap{{"team", "vision"}, {"kind", "train"}}}});
  CHECK(pipeline->stages[1].environment == core::StringMap{{"EPOCHS", "3"}, {"SEED", "1"}});
  CHECK(find_value<core::StringPairs>(pipeline->stages[2].spec, "after") ==
        core::StringPairs{{"any", "train"}, {"any", "prepare"}, {"ok", "41"}});
  CHECK(find_value<std::int32_t>(pipeline->stages[2].spec, "priority") == -5);
}

TEST_CASE("a pipeline is refused with the line and the key of each mistake") {
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"[]", "1: a pipeline is an object {…}"},
      {"{}",
       "1: the pipeline has no version: write \"version\": 1\n"
       "1: the pipeline has no stages: write \"stages\": [{\"name\": …}]"},
      {"{\"version\": 2,\n \"stage\": [],\n \"stages\": []}",
       "1: version must be 1\n2: there is no key 'stage': did you mean 'stages'?\n"
       "3: stages must be a list with at least one stage"},
      {"{\"version\": 1, \"name\": 3, \"stages\": 4}",
       "1: name must be a text\n1: stages must be a list with at least one stage"},
      {"{\"version\": 1,\n\"defaults\": [], \"stages\": [7]}",
       "2: defaults must be an object\n2: a stage must be an object, not a whole number"},
      {"{\"version\": 1,\n\"defaults\": {\"array\": \"0-3\"}, \"stages\": [{\"name\": \"a\", \"command\": \"a\"}]}",
       "2: array belongs to one stage and cannot be a default"},
      {with_stages("{}"),
       "3: the stage has no name: give it one\n"
       "3: the stage has no command: give it one, as in \"command\": [\"./train\"]"},
      {with_stages("{\"name\": \"a/b\", \"command\": []}"),
       "3: name 'a/b' is not allowed: use printable UTF-8 without '/'\n3: command is empty: give the program to run"},
      {with_stages("{\"name\": \"a\", \"command\": [1]}"),
       "3: a word of the command must be a text, not a whole number"},
      {with_stages("{\"name\": \"a\", \"command\": 1}"),
       "3: command must be a list of words, or one line for a shell, not a whole number"},
      {with_stages("{\"name\": \"a\", \"command\": \"a\",\n \"workdri\": \"4G\",\n \"mem\": 4,\n \"hold\": 1,\n"
                   " \"cpus\": [1],\n \"environment\": {\"A\": true}}"),
       "4: there is no key 'workdri': did you mean 'workdir'?\n"
       "5: mem: '4' has no unit: write 4M (as Slurm reads it) or 4B (as systemd does)\n"
       "6: hold must be true or false, not a whole number\n"
       "7: cpus must be a text or a whole number, not a list\n"
       "8: environment 'A' must be a text, not true or false"},
      {with_stages("{\"name\": \"prepare\", \"command\": \"a\"},\n{\"name\": \"b\", \"command\": \"b\", "
                   "\"after\": [\"perpare\", {\"maybe\": \"b\"}, true]}"),
       "4: 'maybe' is nothing a stage can wait for: there are ok, any, notok, start\n"
       "4: after must be the name of a stage, or {\"any\": \"name\"}, not true or false\n"
       "4: the stage 'b' waits for 'perpare', which is no stage: did you mean 'prepare'?"},
      {with_stages("{\"name\": \"a\", \"command\": \"a\"},\n{\"name\": \"a\", \"command\": \"b\"}"),
       "4: two stages are called 'a': rename one; the other is in line 3"},
      {with_stages("{\"name\": \"a\", \"command\": \"a\", \"after\": \"a\"}"),
       "3: stages wait for each other in a circle: a -> a; take one `after` out"},
      {with_stages("{\"name\": \"x\", \"command\": \"x\", \"after\": \"train\"},\n"
                   "{\"name\": \"train\", \"command\": \"a\", \"after\": \"validate\"},\n"
                   "{\"name\": \"validate\", \"command\": \"b\", \"after\": \"train\"}"),
       "4: stages wait for each other in a circle: train -> validate -> train; take one `after` out"},
  }));
  CHECK(complaints_about(text) == expected);
}

TEST_CASE("a text that is no JSON is refused where it stops being one") {
  CHECK_THAT(complaints_about("{\"version\": 1,\n \"stages\": [\n  {\"name\" \"a\"}\n]}"), Catch::StartsWith("3: "));
  CHECK_THAT(complaints_about("{\"version\": 1,\n\"version\": 1}"), Catch::StartsWith("2: 'version' is given twice"));
  CHECK_THAT(complaints_about("{\"a\":" + std::string(1000, '[')), Catch::Contains("levels deep"));
}

TEST_CASE("at most twenty mistakes are shown, and at most a thousand stages taken") {
  std::string wrong;
  std::string many;
  for (int i = 0; i < 1001; ++i) {
    const std::string comma = i > 0 ? ",\n" : "";
    wrong += i < 30 ? comma + "{\"name\": \"s" + std::to_string(i) + "\"}" : "";
    many += comma + "{\"name\": \"s" + std::to_string(i) + "\", \"command\": \"x\"" +
            (i > 0 ? ", \"after\": \"s" + std::to_string(i - 1) + "\"" : "") + "}";
  }
  CHECK(parse_pipeline(with_stages(wrong), around).error().size() == 20);
  CHECK_THAT(complaints_about(with_stages(many)), Catch::Contains("there are 1001 stages: allowed are 1000"));
  const auto thousand = parse_pipeline(with_stages(many.substr(0, many.rfind(",\n"))), around);
  REQUIRE(thousand);
  CHECK(thousand->stages.size() == 1000);
}

TEST_CASE("a plan says what starts when") {
  const auto pipeline =
      parse_pipeline(with_stages("{\"name\": \"c\", \"command\": \"c\", \"after\": [\"b\", {\"any\": \"a\"}]},\n"
                                 "{\"name\": \"b\", \"command\": \"b\", \"after\": {\"start\": \"a\"}},\n"
                                 "{\"name\": \"a\", \"command\": \"a\"}"),
                     around);
  REQUIRE(pipeline);
  CHECK(plan_text(*pipeline) ==
        "a: when there is room\n"
        "b: when a has started\n"
        "c: when b has ended well, a has ended\n");
}

TEST_CASE("the examples that are installed are pipelines") {
  for (const auto* name : {"night-sequential.json", "night-parallel.json"}) {
    INFO(name);
    std::ifstream stream(std::string(MLJOBD_FIXTURES "/../../packaging/examples/") + name);
    REQUIRE(stream);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const auto pipeline = parse_pipeline(text, around);
    INFO((pipeline ? "" : pipeline.error().front().reason));
    REQUIRE(pipeline);
    CHECK(pipeline->stages.size() >= 3);
  }
}

TEST_CASE("a file is read within its bound, and a large one not at all") {
  const auto folder = std::filesystem::temp_directory_path() / ("mljobd-files-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder / "large.json";
  std::ofstream(path) << "{}";
  const auto read = [&](std::size_t bound) {
    const auto fd = open_regular_file(path);
    REQUIRE(fd);
    return read_at_most(fd->get(), "large.json", bound, "split it");
  };
  CHECK(read(2) == std::string("{}"));
  CHECK(read(1).error().message == "large.json is larger than 1B: split it");
  std::filesystem::resize_file(path, std::uintmax_t{10} << 20);
  CHECK(read(maximum_pipeline).error().message == "large.json is larger than 1M: split it");

  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_FALSE(open_regular_file(pipe));
  CHECK_FALSE(open_regular_file(folder));
  CHECK(open_regular_file(folder / "missing").error().exit_code == 2);
  std::filesystem::remove_all(folder);
}
