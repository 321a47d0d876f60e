#include <cstdlib>
#include <ctime>

#include <catch2/catch.hpp>

#include "client/render_list.hpp"
#include "client/render_status.hpp"
#include "client/render_text.hpp"

using namespace mljobd::client;
using mljobd::core::Bytes;
using mljobd::core::unlimited;
using mljobd::core::Value;
using mljobd::core::ValueMap;

namespace {

constexpr Bytes gibibyte = Bytes{1} << 30;

void use_utc() {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
}

JobRow running() {
  return {.id = 42,
          .name = "train.py",
          .class_name = "train",
          .kind = "batch",
          .owner = 1000,
          .owner_name = "alice",
          .state = "running",
          .attempt = 1,
          .unit = "mljob-42-1.service",
          .slice = "mljob-train-42.slice",
          .submit_time = 1'000'000,
          .start_time = 61'000'000,
          .run_time = std::chrono::minutes(5),
          .limits = {{"memory", Value(12 * gibibyte)}, {"priority", Value(std::int32_t{0})}},
          .usage = {{"memory_current", Value(3 * gibibyte)},
                    {"memory_peak", Value(4 * gibibyte)},
                    {"cpu_time", Value(std::uint64_t{90'000'000})}}};
}

JobRow killed() {
  auto row = running();
  row.id = 7;
  row.state = "finished";
  row.result = "oom";
  row.exit_signal = 9;
  row.reason = "oom own-limit";
  row.end_time = 361'000'000;
  row.cause = {{"what", Value("own-limit")}, {"advice", Value("Job 7 ran out of host memory. Try --mem 24G.")}};
  return row;
}

}  // namespace

TEST_CASE("the table of jobs") {
  CHECK(*render_jobs({running(), killed()}, default_fields, {}) ==
        "ID NAME     CLASS USER  ST   TIME  MEM   CPU GPU REASON\n"
        "42 train.py train alice R   5m00s 3.0G 1m30s -   -\n"
        " 7 train.py train alice OOM 5m00s 4.0G 1m30s -   oom own-limit\n");
}

TEST_CASE("a job whose memory grows says so where a waiting one says why it waits, and on its page how sure that is") {
  auto row = running();
  const auto minutes = [](std::uint64_t count) { return Value(count * 60'000'000); };
  row.forecast = {{"growth", Value("growing")},   {"bytes_per_hour", Value(std::int64_t{3} << 30)},
                  {"severity", Value("warning")}, {"time_to_limit", minutes(14)},
                  {"earliest", minutes(11)},      {"latest", minutes(19)}};
  CHECK(*render_jobs({row}, "ID,REASON,GROWTH", {.legend = false}) ==
        "42 +3.0G/h, limit in 14 min +3.0G/h, limit in 14 min\n");
  CHECK_THAT(render_status({.row = row, .properties = {}, .log_tail = ""}, false),
             Catch::Contains("    Growth: +3.0G/h, limit in 14 min (11–19)\n"));
  row.forecast = {{"growth", Value("steady")}, {"bytes_per_hour", Value(std::int64_t{0})}};
  CHECK(*render_jobs({row}, "ID,REASON,GROWTH", {.legend = false}) == "42 -      -\n");
  CHECK_THAT(render_status({.row = row, .properties = {}, .log_tail = ""}, false), !Catch::Contains("Growth"));
}

TEST_CASE("an empty table has its titles, and a bare one nothing") {
  CHECK(*render_jobs({}, "id,name", {}) == "ID NAME\n");
  CHECK(*render_jobs({}, "id,name", {.legend = false}) == "");
  CHECK(*render_jobs({running()}, "id,exit", {.legend = false}) == "42    -\n");
}

TEST_CASE("a queued job has used nothing yet") {
  const JobRow row{.id = 1, .state = "queued", .reason = "Class", .usage = {{"memory_current", Value(Bytes{0})}}};
  CHECK(*render_jobs({row}, "ST,TIME,MEM,CPU,REASON", {.legend = false}) == "PD    -   -   - Class\n");
}

TEST_CASE("a wrong field is told with all there are") {
  const auto table = render_jobs({}, "ID,COLOUR", {});
  REQUIRE_FALSE(table);
  CHECK(table.error().exit_code == 2);
  CHECK_THAT(table.error().message, Catch::Contains("COLOUR") && Catch::Contains("REASON"));
}

TEST_CASE("the daemon is asked for what the columns show, and no more") {
  using Keys = std::vector<std::string>;
  CHECK(*row_keys("id,name,mem") ==
        Keys{"array_id", "array_index", "id", "name", "result", "start_time", "state", "usage"});
  CHECK(*row_keys("GPU") == Keys{"id", "result", "state"});
  CHECK_FALSE(row_keys("ID,COLOUR"));
}

TEST_CASE("a job shows the same in a row that has only the keys of its columns") {
  const ValueMap cause{{"what", "own-limit"}};
  const ValueMap usage{{"memory_peak", Bytes{3} << 30}, {"cpu_time", std::uint64_t{90'000'000}}};
  ValueMap full{{"id", std::uint32_t{42}},
                {"name", "night"},
                {"class", "train"},
                {"kind", "batch"},
                {"owner", std::uint32_t{1000}},
                {"owner_name", "alice"},
                {"state", "finished"},
                {"reason", "oom own-limit"},
                {"attempt", std::uint32_t{2}},
                {"unit", "mljob-42-2.service"},
                {"slice", "s.slice"},
                {"submit_time", std::uint64_t{1'000'000}},
                {"start_time", std::uint64_t{2'000'000}},
                {"end_time", std::uint64_t{3'000'000}},
                {"run_time", std::uint64_t{61'000'000}},
                {"exit_code", std::int32_t{-1}},
                {"exit_signal", std::uint32_t{9}},
                {"result", "oom"},
                {"cause", cause},
                {"limits", ValueMap{{"memory", Bytes{1} << 30}, {"time_limit", std::uint64_t{5'000'000}}}},
                {"usage", usage},
                {"forecast", ValueMap{{"growth", "growing"}, {"bytes_per_hour", std::int64_t{1} << 30}}},
                {"priority", std::int32_t{3}},
                {"array_id", std::uint32_t{40}},
                {"array_index", std::uint32_t{2}}};
  const std::string field = GENERATE("ID", "NAME", "CLASS", "USER", "ST", "TIME", "MEM", "CPU", "GPU", "REASON",
                                     "STATE", "RESULT", "EXIT", "KIND", "ATTEMPT", "PRIORITY", "PEAK", "LIMIT",
                                     "GROWTH", "TIMELIMIT", "SUBMITTED", "STARTED", "ENDED", "UNIT", "SLICE");
  ValueMap asked;
  const auto keys = row_keys(field);
  REQUIRE(keys);
  for (const auto& key : *keys) asked.insert(*full.find(key));
  CHECK(*render_jobs({job_row_from(asked)}, field, {}) == *render_jobs({job_row_from(full)}, field, {}));
}

TEST_CASE("a narrow terminal cuts names, never numbers") {
  auto row = running();
  row.name = std::string(200, 'n');
  const auto table = render_jobs({row}, default_fields, {.width = 80});
  REQUIRE(table);
  std::string_view rest = *table;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    CHECK(line.size() <= 80);
    rest.remove_prefix(line.size() + 1);
  }
  CHECK_THAT(*table, Catch::Contains("3.0G"));
  CHECK_THAT(*render_jobs({row}, default_fields, {}), Catch::Contains(row.name));
}

TEST_CASE("a name cannot steer the terminal") {
  CHECK(harmless("a\x1b[31mb\r\nc\x7f") == "a?[31mb  c?");
  auto row = running();
  row.name = "x\x1b]0;evil\x07";
  CHECK_THAT(*render_jobs({row}, "NAME", {}), !Catch::Contains("\x1b"));
  CHECK_THAT(render_status({.row = row}, false), !Catch::Contains("\x1b"));
}

TEST_CASE("the page of a running job") {
  use_utc();
  const ValueMap properties{
      {"Effective", Value(ValueMap{{"memory_max", Value(12 * gibibyte)}, {"cpu_quota_percent", Value(UINT32_MAX)}})},
      {"Progress", Value(0.25)},
      {"ProgressMessage", Value("epoch 3 of 12")}};
  auto row = running();
  row.warnings = {"memory.max is 11.0G, not 12.0G"};
  const auto page =
      render_status({.row = row, .properties = properties, .log_tail = "epoch 2\n 1%\r 50%\r99%\nepoch 3\n"}, false);
  CHECK_THAT(page, Catch::StartsWith("Job 42 train.py (train, of alice)\n     State: running\n"));
  CHECK_THAT(page, Catch::Contains("Warning: memory.max is 11.0G, not 12.0G\n"));
  CHECK_THAT(page, Catch::Contains("Progress: 25%, epoch 3 of 12\n"));
  CHECK_THAT(page, Catch::Contains("Started: 1970-01-01 00:01:01\n"));
  CHECK_THAT(page, Catch::Contains("Memory: 3.0G, peak 4.0G\n"));
  CHECK_THAT(page, Catch::Contains("Unit: mljob-42-1.service in mljob-train-42.slice\n"));
  CHECK_THAT(page, Catch::Contains("  memory              12.0G\n"));
  CHECK_THAT(page, Catch::Contains("  memory_max          -             12.0G\n"));
  CHECK_THAT(page, Catch::Contains("  cpu_quota_percent   -             unlimited\n"));
  CHECK_THAT(page, Catch::EndsWith("  epoch 2\n  99%\n  epoch 3\n"));
}

TEST_CASE("a job that waited for something says for what and how long, one that did not says nothing") {
  auto row = running();
  row.usage.insert({{"memory_waiting", Value(std::uint64_t{200'000'000})},
                    {"memory_stalled", Value(std::uint64_t{12'000'000})},
                    {"io_waiting", Value(std::uint64_t{4'000'000})},
                    {"io_stalled", Value(std::uint64_t{0})},
                    {"cpu_waiting", Value(std::uint64_t{999})}});
  CHECK_THAT(render_status({.row = row}, false),
             Catch::Contains("Waited: for memory 3m20s (all of it 12s), for data 4s\n"));
  CHECK_THAT(render_status({.row = running()}, false), !Catch::Contains("Waited"));
}

TEST_CASE("the page of a dead job says why and what to do") {
  const auto page = render_status({.row = killed()}, false);
  CHECK_THAT(page, Catch::Contains("State: oom (own-limit), killed by signal 9\n"));
  CHECK_THAT(page, Catch::Contains("Cause: Job 7 ran out of host memory. Try --mem 24G.\n"));
  CHECK_THAT(page, Catch::Contains("Memory: 4.0G at the peak\n"));
  CHECK_THAT(page, !Catch::Contains("Last output"));
}

TEST_CASE("a parked job says since when, why, and how much of it is in swap") {
  use_utc();
  auto row = running();
  row.state = "parked";
  row.reason = "12M of 1.8G available, less than 92M";
  row.frozen_since = 121'000'000;
  CHECK(*render_jobs({row}, "ID,ST,REASON", {.legend = false}) == "42 S  12M of 1.8G available, less than 92M\n");
  CHECK_THAT(render_status({.row = row}, false),
             Catch::Contains("State: parked since 1970-01-01 00:02:01: 12M of 1.8G available, less than 92M\n"));
  row.usage.insert_or_assign("swap_current", Value(gibibyte));
  CHECK_THAT(render_status({.row = row}, false), Catch::Contains("less than 92M; its 1.0G are in swap\n"));
  // The object's numbers are newer than the row's.
  const ValueMap properties{{"Usage", Value(ValueMap{{"swap_current", Value(2 * gibibyte)}})}};
  CHECK_THAT(render_status({.row = row, .properties = properties}, false), Catch::Contains("; its 2.0G are in swap\n"));
  row.state = "frozen";
  row.reason = "";
  CHECK_THAT(render_status({.row = row}, false), Catch::Contains("State: frozen since 1970-01-01 00:02:01\n"));
}

TEST_CASE("a claim that was learned is called so") {
  auto row = running();
  row.limits = {{"memory_learned", Value(3 * gibibyte)}};
  CHECK_THAT(render_status({.row = row}, false), Catch::Contains("  memory              3.0G (learned)\n"));
}

TEST_CASE("the jobs of an array are shown with their indices, and together") {
  use_utc();
  auto first = running();
  first.array_id = 40;
  first.array_index = 1;
  first.array_count = 2;
  auto second = first;
  second.id = 43;
  second.array_index = 2;
  second.state = "finished";
  second.result = "done";
  second.exit_code = 0;
  CHECK_THAT(render_status({.row = first}, false),
             Catch::StartsWith("Job 40_1 train.py (train, of alice, job 42, one of 2)\n"));
  CHECK(render_jobs({first, second}, "id", {.legend = false}) == "40_1\n40_2\n");
  auto third = first;
  third.state = "queued";
  third.reason = "ArrayLimit (2 of its jobs run)";
  CHECK(render_jobs({third}, "st,reason", {.legend = false}) == "PD ArrayLimit (2 of its jobs run)\n");
  CHECK(describe_state(third) == "queued: ArrayLimit (2 of its jobs run)");
  const auto page = render_array({first, second}, {});
  REQUIRE(page);
  CHECK_THAT(*page, Catch::StartsWith("Array 40 train.py (train, of alice), 2 jobs: 1 done, 1 running\n\n") &&
                        Catch::Contains("\n40_1 R ") &&
                        Catch::EndsWith("`jobctl status 40_1` shows one of them in full.\n"));
}

TEST_CASE("the page of the machine") {
  const ValueMap properties{
      {"Version", Value("0.1.0")},
      {"Mode", Value("system")},
      {"State", Value("degraded")},
      {"Problems", Value(std::vector<std::string>{"no io controller"})},
      {"Running", Value(std::uint32_t{2})},
      {"Memory", Value(ValueMap{{"total_memory", Value(64 * gibibyte)}, {"free_memory", Value(gibibyte)}})}};
  const auto page = render_machine(
      properties,
      {{"cores", Value(4U)},
       {"logical_cpus", Value(8U)},
       {"cores_for_jobs", Value(3U)},
       {"cores_reserved", Value(2U)},
       {"cores_free", Value(1U)},
       {"shared_cpus", Value("0,3-4,7")}},
      {{{"name", Value("train")}, {"running", Value(std::uint32_t{1})}, {"max_running", Value(std::uint32_t{1})}}},
      false);
  CHECK_THAT(page, Catch::StartsWith("mljobd 0.1.0 (system)\n     State: degraded\n   Problem: no io controller\n"));
  CHECK_THAT(page, Catch::Contains("64.0G in the machine") && Catch::Contains("1.0G free"));
  CHECK_THAT(page, Catch::Contains("train: 1 running, 0 queued, at most 1 at once"));
  CHECK_THAT(page,
             Catch::Contains("Cores: 4 in the machine (8 logical CPUs), 3 to reserve: 2 reserved, 1 free; all others "
                             "share the CPUs 0,3-4,7\n"));
  CHECK_THAT(render_machine(properties, {}, {}, false), !Catch::Contains("Cores"));
}

TEST_CASE("the machine says how short memory is") {
  const auto page = [](std::uint32_t level) {
    return render_machine({{"PressureLevel", Value(level)}}, {}, {}, false);
  };
  CHECK_THAT(page(0), Catch::Contains("Pressure: none\n"));
  CHECK_THAT(page(1), Catch::Contains("Pressure: level 1: ") && Catch::Contains("slowed down"));
  CHECK_THAT(page(2), Catch::Contains("Pressure: level 2: ") && Catch::Contains("parked in swap"));
  CHECK_THAT(page(3), Catch::Contains("Pressure: level 3: ") && Catch::Contains("ended"));
  CHECK_THAT(render_machine({}, {}, {}, false), !Catch::Contains("Pressure"));
}

TEST_CASE("limits are shown in the unit of their key") {
  CHECK(format_limit("memory_max", Value(gibibyte)) == "1.0G");
  CHECK(format_limit("swap_max", Value(unlimited)) == "unlimited");
  CHECK(format_limit("time_limit", Value(std::uint64_t{90'000'000})) == "1m30s");
  CHECK(format_limit("cpu_quota_percent", Value(std::uint32_t{150})) == "150%");
  CHECK(format_limit("cpu_weight", Value(std::uint64_t{250})) == "250");
  CHECK(format_limit("oom_score_adjust", Value(std::int32_t{-5})) == "-5");
  CHECK(format_limit("cpu_list", Value("0-3")) == "0-3");
}

TEST_CASE("an event is one line") {
  use_utc();
  CHECK(render_event({{"time", Value(std::uint64_t{61'000'000})},
                      {"job", Value(std::uint32_t{42})},
                      {"old", Value("running")},
                      {"new", Value("finished")},
                      {"reason", Value("oom own-limit")},
                      {"message", Value("two\nlines")}}) ==
        "1970-01-01 00:01:01  job 42  running -> finished  oom own-limit  two lines\n");
  CHECK(render_event({{"time", Value(std::uint64_t{61'000'000})},
                      {"job", Value(std::uint32_t{7})},
                      {"kind", Value("decision")},
                      {"old", Value("running")},
                      {"new", Value("running")},
                      {"reason", Value("park")},
                      {"message", Value("park 7 'evaluate' (812M): 26M of 1.8G available, less than 92M")},
                      {"details", Value("{}")}}) ==
        "1970-01-01 00:01:01  job 7  park 7 'evaluate' (812M): 26M of 1.8G available, less than 92M\n");
  CHECK(render_event({{"time", Value(std::uint64_t{1})},
                      {"job", Value(std::uint32_t{7})},
                      {"kind", Value("forecast")},
                      {"old", Value("running")},
                      {"new", Value("running")},
                      {"reason", Value("growing")},
                      {"message", Value("its memory grows: +1.0G/h, limit in 5h00m")}}) ==
        "1970-01-01 00:00:00  job 7  its memory grows: +1.0G/h, limit in 5h00m\n");
  CHECK(render_event({{"kind", Value("decision")},
                      {"reason", Value("level")},
                      {"message", Value("pressure level 0 to 1: 170M of 1.8G available")}}) ==
        "-  mljobd  pressure level 0 to 1: 170M of 1.8G available\n");
  // A retry is decided at a change of state.
  CHECK(render_event({{"job", Value(std::uint32_t{7})},
                      {"kind", Value("decision")},
                      {"old", Value("running")},
                      {"new", Value("queued")},
                      {"reason", Value("retry 1 of 3 in 10s")},
                      {"message", Value("Job 7 exited with code 1.")}}) ==
        "-  job 7  running -> queued  retry 1 of 3 in 10s  Job 7 exited with code 1.\n");
  CHECK(render_event({{"message", Value("started")}}) == "-  mljobd  started\n");
}
