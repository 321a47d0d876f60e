#include "core/spec_validation.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "core/job_view.hpp"
#include "spec_validation_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST_CASE("the least specification gets its defaults") {
  const auto spec = Machine{}.validate(minimal());
  INFO(message_of(spec));
  REQUIRE(spec);
  CHECK(spec->name == "python3");
  CHECK(spec->class_name == "batch");
  CHECK(spec->workdir == "/home/alice");
  CHECK(spec->command == Texts{"/usr/bin/python3", "train.py"});
  CHECK(spec->limits == Limits{});
  CHECK(spec->priority == 0);
  CHECK_FALSE(spec->hold);
}

TEST_CASE("every key of the contract arrives where it belongs") {
  const ValueMap values{{"name", "night"},
                        {"class", "train"},
                        {"command", Texts{"true"}},
                        {"workdir", "/w"},
                        {"environment", Texts{"A=1"}},
                        {"memory", 2 * gibi},
                        {"memory_max", 4 * gibi},
                        {"memory_high", 3 * gibi},
                        {"swap_max", Bytes{0}},
                        {"tasks_max", std::uint64_t{100}},
                        {"cpu_weight", std::uint64_t{10000}},
                        {"io_weight", std::uint64_t{1}},
                        {"cpu_quota_percent", std::uint32_t{250}},
                        {"cpu_list", "4,0-2"},
                        {"oom_score_adjust", std::int32_t{1000}},
                        {"oom_policy", "continue"},
                        {"private_shm", gibi},
                        {"priority", std::int32_t{-5}},
                        {"time_limit", microseconds(2h)},
                        {"stop_timeout", microseconds(90s)},
                        {"hold", true},
                        {"requeue", true},
                        {"output", "/w/out"},
                        {"error", "/w/err"},
                        {"open_mode", "truncate"},
                        {"comment", "first\n\tsecond"},
                        {"labels", StringMap{{"model", "resnet"}}}};
  const auto spec = Machine{}.validate(values);
  INFO(message_of(spec));
  REQUIRE(spec);
  JobSpec expected;
  expected.name = "night";
  expected.class_name = "train";
  expected.command = {"true"};
  expected.workdir = "/w";
  expected.environment = {"A=1"};
  expected.limits.memory = 2 * gibi;
  expected.limits.memory_max = 4 * gibi;
  expected.limits.memory_high = 3 * gibi;
  expected.limits.swap_max = 0;
  expected.limits.tasks_max = 100;
  expected.limits.cpu_weight = 10000;
  expected.limits.io_weight = 1;
  expected.limits.cpu_quota_percent = 250;
  expected.limits.cpu_list = "0-2,4";
  expected.limits.oom_score_adjust = 1000;
  expected.limits.oom_policy = OomPolicy::keep_running;
  expected.limits.private_shm = gibi;
  expected.priority = -5;
  expected.time_limit = 2h;
  expected.stop_timeout = 90s;
  expected.hold = true;
  expected.requeue = true;
  expected.output = "/w/out";
  expected.error = "/w/err";
  expected.open_mode = OpenMode::truncate;
  expected.comment = "first\n\tsecond";
  expected.labels = {{"model", "resnet"}};
  CHECK(*spec == expected);
  // What GetSpec answers can be submitted again and gives the same job.
  const auto again = Machine{}.validate(spec_view(*spec));
  INFO(message_of(again));
  REQUIRE(again);
  CHECK(*again == *spec);
}

TEST_CASE("any integer type is taken where the number fits") {
  const auto value = GENERATE(Value(std::int32_t{200}), Value(std::uint32_t{200}), Value(std::int64_t{200}),
                              Value(std::uint64_t{200}));
  CHECK(Machine{}.validate(with("cpu_weight", value))->limits.cpu_weight == 200U);
  CHECK(Machine{}.validate(with("oom_score_adjust", std::uint64_t{950}))->limits.oom_score_adjust == 950);
  CHECK(Machine{}.validate(with("priority", std::int64_t{-1000}))->priority == -1000);
}

TEST_CASE("values out of range are refused with the range") {
  struct Row {
    std::string key;
    Value value;
    std::string part;
  };
  const auto row = GENERATE(
      Row{"cpu_weight", std::uint64_t{0}, "cpu_weight 0 is out of range: allowed are 1 to 10000"},
      Row{"cpu_weight", std::int32_t{-1}, "cpu_weight -1"}, Row{"cpu_weight", std::uint64_t{10001}, "10001"},
      Row{"io_weight", std::int64_t{-9223372036854775807}, "-9223372036854775807"},
      Row{"memory", Bytes{1048575}, "memory 1M is out of range: allowed are 1M to"}, Row{"memory", unlimited, "memory"},
      Row{"memory_max", Bytes{0}, "memory_max 0B is out of range: allowed are 1M to unlimited"},
      Row{"memory_high", std::int64_t{-1}, "memory_high -1"}, Row{"private_shm", Bytes{1}, "private_shm 1B"},
      Row{"swap_max", std::int32_t{-1}, "swap_max -1"}, Row{"tasks_max", std::uint64_t{0}, "tasks_max 0"},
      Row{"cpu_quota_percent", std::uint32_t{0}, "cpu_quota_percent 0"},
      Row{"cpu_quota_percent", std::uint64_t{4294967296}, "cpu_quota_percent 4294967296"},
      Row{"priority", std::int32_t{1001}, "priority 1001"}, Row{"priority", std::int32_t{-1001}, "-1000 to 1000"},
      Row{"priority", unlimited, "priority 18446744073709551615"},
      Row{"oom_score_adjust", std::int32_t{1001}, "oom_score_adjust 1001"},
      Row{"time_limit", std::uint64_t{999999}, "time_limit 999ms is out of range: allowed are 1s to 3652d00h"},
      Row{"time_limit", unlimited, "time_limit 18446744073709551615"}, Row{"time_limit", std::int32_t{-1}, "-1"},
      Row{"stop_timeout", microseconds(1h) + 1, "allowed are 0s to 1h00m"});
  INFO(row.key);
  check_refused(Machine{}.validate(with(row.key, row.value)), row.part);
}

TEST_CASE("wrong types are refused by name") {
  struct Row {
    std::string key;
    Value value;
    std::string part;
  };
  const auto row = GENERATE(Row{"memory", "4G", "memory must be a whole number, not a text"},
                            Row{"memory", true, "memory must be a whole number, not a boolean"},
                            Row{"memory", 4e9, "memory must be a whole number, not a floating number"},
                            Row{"hold", std::uint32_t{1}, "hold must be a boolean, not a number"},
                            Row{"name", std::uint32_t{1}, "name must be a text, not a number"},
                            Row{"command", "true", "command must be a list of texts, not a text"},
                            Row{"environment", StringMap{{"A", "1"}}, "environment must be a list of texts"},
                            Row{"labels", Texts{"a"}, "labels must be a text dictionary, not a list of texts"},
                            Row{"cpu_list", std::uint32_t{3}, "cpu_list must be a text"},
                            Row{"oom_policy", true, "oom_policy must be a text"},
                            Row{"comment", ValueMap{}, "comment must be a text, not a dictionary"});
  check_refused(Machine{}.validate(with(row.key, row.value)), row.part);
}

TEST_CASE("unknown keys are refused, with the one that was meant") {
  check_refused(Machine{}.validate(with("memroy", gibi)), "there is no key 'memroy': did you mean 'memory'?");
  check_refused(Machine{}.validate(with("time-limit", gibi)), "did you mean 'time_limit'?");
  check_refused(Machine{}.validate(with("x\x1b[2J", gibi)), "known are name, class, command");
  check_refused(Machine{}.validate(with(std::string(1 << 20, 'k'), gibi)), "known are");
  const std::string later = GENERATE("gpus", "gpu_memory", "gpu_share");
  check_refused(Machine{}.validate(with(later, std::uint32_t{1})), later + " is not supported by this version");
}

TEST_CASE("commands are bounded as execve bounds them") {
  const Machine machine;
  const auto refuse = [&](Texts command, const std::string& part) {
    check_refused(machine.validate(with("command", std::move(command))), part);
  };
  refuse({}, "command is empty");
  refuse({""}, "command is empty");
  refuse({"a\0b"s}, "NUL");
  refuse({"a", "\xFF"}, "not UTF-8");
  refuse(Texts(4097, "a"), "command has 4097 entries: allowed are 4096");
  refuse({"a", std::string(131072, 'x')}, "131072 bytes long: allowed are 131071");
  refuse(Texts(9, std::string(131071, 'x')), "1048576");
  CHECK(machine.validate(with("command", Texts(4096, "a"))));
  CHECK(machine.validate(with("command", Texts{"a", "", std::string(131071, 'x'), "line\nbreak"})));
  auto missing = minimal();
  missing.erase("command");
  check_refused(machine.validate(missing), "command is missing");
}

TEST_CASE("the environment is cleaned, not guessed at") {
  const Machine machine;
  const auto kept = machine.validate(
      with("environment", Texts{"PATH=/bin", "A=1", "BASH_FUNC_module%%=() { echo x\n}", "_b2=", "A=2=3", "C=\n"}));
  INFO(message_of(kept));
  REQUIRE(kept);
  CHECK(kept->environment == Texts{"PATH=/bin", "A=2=3", "_b2=", "C=\n"});

  const std::string entry = GENERATE("", "=x", "A", "1A=x", "A-B=x", "A B=x", "Ü=x", "BASH_FUNC_x=1%%x y", " A=1");
  if (entry == "BASH_FUNC_x=1%%x y") {
    CHECK(machine.validate(with("environment", Texts{entry}))->environment == Texts{entry});
  } else {
    check_refused(machine.validate(with("environment", Texts{entry})), "write KEY=value");
  }
  check_refused(machine.validate(with("environment", Texts{"A=\0"s})), "NUL");
  check_refused(machine.validate(with("environment", Texts(4097, "A=1"))), "4097");
  check_refused(machine.validate(with("environment", Texts(9, "A=" + std::string(131000, 'x')))), "in all");
}

TEST_CASE("names are told from ids, options and paths") {
  const Machine machine;
  const std::string good = GENERATE("a", "resnet 50", "模型-7", "42a", "a@b", "4.2");
  CHECK(machine.validate(with("name", good))->name == good);
  const std::string bad = GENERATE(""s, "42"s, "-x"s, "@"s, "@x"s, "a/b"s, "a\nb"s, "a\x1b"s, "\xC2\x85"s, "\xFF"s,
                                   "a\0b"s, std::string(129, 'n'));
  check_refused(machine.validate(with("name", bad)), "name ");
}

TEST_CASE("the default name is one that could have been given") {
  struct Row {
    std::string program;
    std::string name;
  };
  const auto row =
      GENERATE(Row{"train.py", "train.py"}, Row{"/opt/bin/x", "x"}, Row{"/opt/bin/", "job"}, Row{"./-x", "job"},
               Row{"/bin/42", "job"}, Row{"/a\nb", "job"}, Row{std::string(200, 'p'), "job"});
  CHECK(Machine{}.validate(with("command", Texts{row.program}))->name == row.name);
}

TEST_CASE("paths are absolute and kept in their simplest form") {
  struct Row {
    std::string path;
    std::string kept;
  };
  const auto row =
      GENERATE(Row{"/", "/"}, Row{"//", "/"}, Row{"/a//b/./c/", "/a/b/c"}, Row{"/a/../b", "/b"}, Row{"/../../a", "/a"},
               Row{"/a/...", "/a/..."}, Row{"/%h/%n", "/%h/%n"}, Row{"/a b/ü", "/a b/ü"}, Row{"/..", "/"});
  CHECK(Machine{}.validate(with("workdir", row.path))->workdir == row.kept);
  CHECK(Machine{}.validate(with("output", row.path))->output == row.kept);
  CHECK(Machine{}.validate(with("error", row.path))->error == row.kept);

  const std::string bad =
      GENERATE(""s, "a"s, "./a"s, "~/a"s, "/a\nb"s, "/a\0b"s, "/\xFF"s, "/" + std::string(4095, 'p'));
  check_refused(Machine{}.validate(with("workdir", bad)), "workdir ");
  check_refused(Machine{}.validate(with("output", bad)), "output ");
}

TEST_CASE("comments and labels are bounded") {
  const Machine machine;
  check_refused(machine.validate(with("comment", std::string(1025, 'c'))), "comment is 1025 bytes long");
  check_refused(machine.validate(with("comment", "a\x1b[2J")), "printable");
  check_refused(machine.validate(with("comment", "\xC3")), "printable");
  StringMap many;
  for (int i = 0; i < 65; ++i) many.emplace("k" + std::to_string(i), "v");
  check_refused(machine.validate(with("labels", many)), "labels has 65 entries");
  check_refused(machine.validate(with("labels", StringMap{{"", "v"}})), "without a name");
  check_refused(machine.validate(with("labels", StringMap{{"k", std::string(129, 'v')}})), "labels 'k' is 129 bytes");
  check_refused(machine.validate(with("labels", StringMap{{std::string(129, 'k'), "v"}})), "129 bytes");
  check_refused(machine.validate(with("labels", StringMap{{"k", "a\rb"}})), "printable");
}

TEST_CASE("a class must exist") {
  check_refused(Machine{}.validate(with("class", "trian")),
                "class 'trian' does not exist: choose one of train, validate, batch");
  check_refused(Machine{}.validate(with("class", "")), "class is empty");
}

TEST_CASE("memory limits must go together") {
  const Machine machine;
  auto spec = with("memory", 4 * gibi);
  spec["memory_max"] = 2 * gibi;
  check_refused(machine.validate(spec), "memory 4.0G is above memory_max 2.0G");
  spec = with("memory", 4 * gibi);
  spec["memory_high"] = 5 * gibi;
  check_refused(machine.validate(spec), "memory_high 5.0G is above memory_max 4.0G");
  spec["memory_max"] = unlimited;
  CHECK(machine.validate(spec));
  spec = with("memory", 4 * gibi);
  spec["memory_high"] = unlimited;
  CHECK(machine.validate(spec));
}

TEST_CASE("a claim that can never fit is told both figures") {
  check_refused(Machine{}.validate(with("memory", 64 * gibi)),
                "the job needs 64.0G; jobs on this machine may use 14.0G in all", ErrorCode::no_capacity);
  CHECK(Machine{}.validate(with("memory", 14 * gibi)));
  // A ceiling is no claim.
  CHECK(Machine{}.validate(with("memory_max", 64 * gibi)));
}

TEST_CASE("a class's memory is default and bound") {
  Machine machine;
  auto& batch = machine.settings.classes[2];
  batch.maximum_memory = 8 * gibi;
  SECTION("without a default the maximum is the ceiling, and nothing is claimed") {
    const auto limits = machine.validate(minimal())->limits;
    CHECK_FALSE(limits.memory);
    CHECK(limits.memory_max == 8 * gibi);
  }
  SECTION("the default is claim and ceiling") {
    batch.default_memory = 2 * gibi;
    const auto limits = machine.validate(minimal())->limits;
    CHECK(limits.memory == 2 * gibi);
    CHECK_FALSE(limits.memory_max);
    CHECK(memory_ceiling(limits) == 2 * gibi);
  }
  SECTION("the default gives way to a lower ceiling that was asked for") {
    batch.default_memory = 2 * gibi;
    CHECK(machine.validate(with("memory_max", gibi))->limits.memory == gibi);
    CHECK(machine.validate(with("memory_max", 4 * gibi))->limits.memory == 2 * gibi);
  }
  SECTION("more than the maximum is refused") {
    check_refused(machine.validate(with("memory", 9 * gibi)), "memory 9.0G is above what class batch allows");
    check_refused(machine.validate(with("memory_max", 9 * gibi)), "memory_max 9.0G is above");
    check_refused(machine.validate(with("memory_max", unlimited)), "memory_max unlimited is above");
    CHECK(machine.validate(with("memory", 8 * gibi)));
  }
  SECTION("a default beyond the machine is said to be one") {
    batch.maximum_memory.reset();
    batch.default_memory = 64 * gibi;
    check_refused(machine.validate(minimal()), "64.0G", ErrorCode::no_capacity);
  }
}

TEST_CASE("what only root may give") {
  Machine root;
  root.privileged = true;
  check_refused(Machine{}.validate(with("priority", std::int32_t{1})), "only root");
  CHECK(root.validate(with("priority", std::int32_t{1}))->priority == 1);
  check_refused(Machine{}.validate(with("oom_score_adjust", std::int32_t{899})), "use 900 to 1000");
  CHECK(Machine{}.validate(with("oom_score_adjust", std::int32_t{900})));
  CHECK(root.validate(with("oom_score_adjust", std::int32_t{-500}))->limits.oom_score_adjust == -500);
}

TEST_CASE("CPUs must be there") {
  // The machine has a gap: 8 and 9 are offline.
  check_refused(Machine{}.validate(with("cpu_list", "6-10")),
                "names CPU 8-9, which a job cannot be given on this machine: there are 0-7,10");
  check_refused(Machine{}.validate(with("cpu_list", "11")), "names CPU 11, which");
  CHECK(Machine{}.validate(with("cpu_list", "7,10"))->limits.cpu_list == "7,10");
  check_refused(Machine{}.validate(with("cpu_list", "")), "cpu_list: '' is not a list of CPUs");
  CHECK(Machine{}.validate(with("cpu_list", "7"))->limits.cpu_list == "7");
}

TEST_CASE("a job in a scope keeps what its caller set") {
  Machine machine;
  machine.kind = GENERATE(JobKind::foreground, JobKind::adopted);
  const std::string key =
      GENERATE("environment", "output", "error", "open_mode", "hold", "requeue", "private_shm", "oom_score_adjust");
  check_refused(machine.validate(with(key, true)), key + " is the caller's own to set");
  auto without_folder = minimal();
  without_folder.erase("workdir");
  CHECK(machine.validate(without_folder)->kind == machine.kind);
  check_refused(Machine{}.validate(without_folder), "workdir is missing");
}

TEST_CASE("limits of a submitted job can be changed, the rest cannot") {
  const Machine machine;
  const auto change = validate_limit_change({{"memory", 4 * gibi},
                                             {"memory_max", 6 * gibi},
                                             {"cpu_list", "0"},
                                             {"time_limit", microseconds(1h)},
                                             {"priority", std::int32_t{0}}},
                                            machine.context());
  INFO(message_of(change));
  REQUIRE(change);
  CHECK(*change == LimitChange{.limits = {.memory = 4 * gibi, .memory_max = 6 * gibi, .cpu_list = "0"},
                               .time_limit = 1h,
                               .priority = 0});

  const auto refused = [&](const ValueMap& values) {
    return message_of(validate_limit_change(values, machine.context()));
  };
  CHECK_THAT(refused({}), Catch::Contains("name at least one"));
  CHECK_THAT(refused({{"name", "x"}}), Catch::Contains("name cannot be changed"));
  CHECK_THAT(refused({{"oom_policy", "kill"}}), Catch::Contains("cannot be changed"));
  CHECK_THAT(refused({{"memory", 15 * gibi}}), Catch::Contains("15.0G; jobs on this machine may use 14.0G"));
  CHECK_THAT(refused({{"memory", 2 * gibi}, {"memory_max", gibi}}), Catch::Contains("is above memory_max"));
  CHECK_THAT(refused({{"priority", std::int32_t{1}}}), Catch::Contains("only root"));
  CHECK_THAT(refused({{"cpu_list", "8"}}), Catch::Contains("there are 0-7,10"));
  CHECK_THAT(refused({{"time_limt", gibi}}), Catch::Contains("did you mean 'time_limit'?"));
  CHECK_THAT(refused({{"gpus", gibi}}), Catch::Contains("not supported"));
}

TEST_CASE("a change is checked against what the job has") {
  Machine machine;
  auto spec = *machine.validate(with("memory", 4 * gibi));
  const auto apply = [&](const LimitChange& change) { return apply_limit_change(spec, change, machine.context()); };

  const auto raised = apply({.limits = {.memory = 6 * gibi}, .time_limit = 1h, .priority = -3});
  REQUIRE(raised);
  CHECK(memory_ceiling(raised->limits) == 6 * gibi);
  CHECK(raised->time_limit == 1h);
  CHECK(raised->priority == -3);
  CHECK(raised->command == spec.command);
  check_refused(apply({.limits = {.memory_max = 2 * gibi}}), "memory 4.0G is above memory_max 2.0G");
  check_refused(apply({.limits = {.memory_high = 5 * gibi}}), "memory_high 5.0G");

  spec.limits.cpus = 1;
  check_refused(apply({.limits = {.cpu_list = "0-1"}}), "cpus and cpu_list exclude each other");

  machine.settings.classes[2].maximum_memory = 2 * gibi;
  check_refused(apply({.limits = {.memory = 3 * gibi}}), "above what class batch allows");
  // The job asked before the class was bounded: its other limits can still be changed.
  CHECK(apply({.limits = {.cpu_weight = 5}})->limits.cpu_weight == 5U);
}
