#include <catch2/catch.hpp>

#include "client/event_stream.hpp"
#include "client/job_row.hpp"
#include "client/json.hpp"

using namespace mljobd::client;
using mljobd::core::NumberAndName;
using mljobd::core::unlimited;
using mljobd::core::Value;
using mljobd::core::ValueMap;

namespace {

JobRow finished(const char* result, std::int32_t code, std::uint32_t signal = 0) {
  return {.state = "finished", .exit_code = code, .exit_signal = signal, .result = result};
}

}  // namespace

TEST_CASE("a shell is told how the job ended") {
  CHECK(exit_code_of(finished("done", 0)) == 0);
  CHECK(exit_code_of(finished("failed", 3)) == 3);
  CHECK(exit_code_of(finished("signalled", -1, 11)) == 139);
  CHECK(exit_code_of(finished("oom", -1, 9)) == 137);
  CHECK(exit_code_of(finished("timeout", -1, 15)) == 143);
  CHECK(exit_code_of(finished("start-failed", 203)) == 126);
  CHECK(exit_code_of(finished("lost", -1)) == 125);
}

TEST_CASE("a job that did not end well never gives 0, whatever its program made of the signal") {
  CHECK(exit_code_of(finished("cancelled", 0)) == 143);
  CHECK(exit_code_of(finished("cancelled", -1)) == 143);
  CHECK(exit_code_of(finished("timeout", 0)) == 143);
  CHECK(exit_code_of(finished("oom", 0)) == 137);
  CHECK(exit_code_of(finished("preempted", 0)) == 137);
  CHECK(exit_code_of(finished("preempted", -1)) == 137);
  CHECK(exit_code_of(finished("a result of a newer daemon", 0)) == 125);
}

TEST_CASE("short states are Slurm's") {
  CHECK(short_state({.state = "queued"}) == "PD");
  CHECK(short_state({.state = "frozen"}) == "S");
  CHECK(short_state({.state = "parked"}) == "S");
  CHECK(short_state({.state = "stopping"}) == "CG");
  CHECK(short_state(finished("preempted", -1, 9)) == "PR");
  CHECK(short_state(finished("signalled", -1, 9)) == "F");
  CHECK(short_state(finished("oom", -1, 9)) == "OOM");
  CHECK(short_state({.state = "of a newer daemon"}) == "?");
}

TEST_CASE("a row is read, and missing keys have fallbacks") {
  const auto row = job_row_from({{"id", Value(std::uint32_t{42})},
                                 {"state", Value("running")},
                                 {"run_time", Value(std::uint64_t{1'500'000})},
                                 {"usage", Value(ValueMap{{"tasks", Value(std::uint64_t{3})}})}});
  CHECK(row.id == 42);
  CHECK(row.run_time == std::chrono::milliseconds(1500));
  CHECK(row.usage.at("tasks") == Value(std::uint64_t{3}));
  CHECK(row.exit_code == -1);
  CHECK(was_started(row));
  CHECK(was_started({.state = "parked"}));
  CHECK_FALSE(was_started({.state = "queued"}));
  CHECK(row.frozen_since == 0);
  CHECK(job_row_from({{"frozen_since", Value(std::uint64_t{7})}}).frozen_since == 7);
}

TEST_CASE("JSON is versioned, and unlimited is null") {
  CHECK(
      json_list("jobs", {{{"id", Value(std::uint32_t{1})},
                          {"limits", Value(ValueMap{{"swap_max", Value(unlimited)}})},
                          {"cause", Value(ValueMap{{"victim", Value(NumberAndName(9, "py"))}})},
                          {"warnings", Value(std::vector<std::string>{"a \"b\""})}}}) ==
      R"({"version":1,"jobs":[{"cause":{"victim":[9,"py"]},"id":1,"limits":{"swap_max":null},"warnings":["a \"b\""]}]})"
      "\n");
  CHECK(json_list("jobs", {}) == "{\"version\":1,\"jobs\":[]}\n");
}

TEST_CASE("the details of a decision are a part of the document") {
  const ValueMap decision{{"job", Value(std::uint32_t{7})},
                          {"details", Value(R"({"memory_high":18446744073709551615,"inputs":{"deficit":5}})")}};
  constexpr const char* expected = R"({"details":{"memory_high":null,"inputs":{"deficit":5}},"job":7})";
  CHECK(json_event_line(decision) == std::string(expected) + "\n");
  CHECK(json_events({decision, {{"job", Value(std::uint32_t{8})}}}) ==
        std::string(R"({"version":1,"events":[)") + expected + R"(,{"job":8}]})" + "\n");
  // What is no object stays the text that it is.
  for (const auto* text : {"", "{", "[1]", "7", "{\"a\":1}}"}) {
    CAPTURE(text);
    CHECK_THAT(json_event_line({{"details", Value(text)}}), Catch::StartsWith("{\"details\":\""));
  }
}

TEST_CASE("overlapping lists of events give each event once") {
  const auto event = [](std::uint64_t time, const char* message) {
    return ValueMap{{"time", Value(time)}, {"message", Value(message)}};
  };
  EventStream stream;
  CHECK(stream.fresh({event(1, "a"), event(2, "b")}).size() == 2);
  CHECK(stream.since() == 2);
  SECTION("asked again from the newest moment") {
    CHECK(stream.fresh({event(2, "b")}).empty());
    CHECK(stream.fresh({event(2, "b"), event(2, "c"), event(3, "d")}) == std::vector{event(2, "c"), event(3, "d")});
    CHECK(stream.fresh({event(3, "d")}).empty());
  }
  SECTION("two alike of one moment are two") {
    CHECK(stream.fresh({event(2, "b"), event(2, "b")}) == std::vector{event(2, "b")});
    CHECK(stream.fresh({event(2, "b"), event(2, "b")}).empty());
  }
}
