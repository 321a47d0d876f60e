// The keys that say when and on what a job runs.
#include <string>

#include <catch2/catch.hpp>

#include "core/job_view.hpp"
#include "spec_validation_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::test;
using namespace std::chrono_literals;

namespace {

using Number = std::uint32_t;

ValueMap with_all(std::initializer_list<std::pair<const std::string, Value>> keys) {
  auto spec = minimal();
  for (const auto& [key, value] : keys) spec.insert_or_assign(key, value);
  return spec;
}

}  // namespace

TEST_CASE("whole cores are asked for up to what the machine can reserve") {
  CHECK(Machine{}.validate(with("cpus", Number{3}))->limits.cpus == 3);
  CHECK(Machine{}.validate(with("cpus", Number{0}))->limits.cpus == 0);
  check_refused(Machine{}.validate(with("cpus", Number{4})), "may reserve 3 in all", ErrorCode::no_capacity);
  check_refused(Machine{}.validate(with_all({{"cpus", Number{1}}, {"cpu_list", "0-1"}})), "exclude each other");
}

TEST_CASE("what a job waits for is named by id or name, and all jobs behind a name are meant") {
  const auto spec = Machine{}.validate(with("after", StringPairs{{"ok", "41"}, {"any", "prepare"}}));
  INFO(message_of(spec));
  REQUIRE(spec);
  CHECK(spec->after == std::vector<Dependency>{{.kind = DependencyKind::ok, .job = 41},
                                               {.kind = DependencyKind::any, .job = 7},
                                               {.kind = DependencyKind::any, .job = 8}});
  CHECK(std::get<StringPairs>(spec_view(*spec).at("after").storage) ==
        StringPairs{{"ok", "41"}, {"any", "7"}, {"any", "8"}});
  check_refused(Machine{}.validate(with("after", StringPairs{{"afterok", "41"}})), "write 'ok', 'any', 'notok' or");
  check_refused(Machine{}.validate(with("after", StringPairs{{"ok", "nobody"}})), "there is no job nobody",
                ErrorCode::no_such_job);
  check_refused(Machine{}.validate(with("after", StringPairs{{"ok", "huge"}, {"ok", "huge"}})), "more than 1000 others",
                ErrorCode::limit_exceeded);
  check_refused(Machine{}.validate(with("after", StringPairs(1001, {"ok", "41"}))), "names 1001 jobs");
}

TEST_CASE("an array is read, and belongs to the submission") {
  const auto spec = Machine{}.validate(with("array", "0-15%4"));
  REQUIRE(spec);
  CHECK(spec->array->indices.size() == 16);
  CHECK(spec->array->max_running == 4);
  CHECK_FALSE(spec_view(*spec).contains("array"));
  CHECK_FALSE(Machine{}.validate(with("array", "5-1")));
}

TEST_CASE("a warning comes before the time limit that it warns of") {
  const SignalAndTime usr1{10, 60'000'000};
  const Value hour = microseconds(1h);
  const auto spec = Machine{}.validate(with_all({{"warn_signal", usr1}, {"time_limit", hour}}));
  INFO(message_of(spec));
  REQUIRE(spec);
  CHECK(spec->warn_signal == WarnSignal{.number = 10, .before = 60s, .to = WarnSignal::To::main_process});
  CHECK(Machine{}
            .validate(with_all({{"warn_signal", usr1}, {"warn_signal_to", "steps"}, {"time_limit", hour}}))
            ->warn_signal->to == WarnSignal::To::steps);
  check_refused(Machine{}.validate(with("warn_signal", usr1)), "give one (--time)");
  check_refused(Machine{}.validate(with_all({{"warn_signal", usr1}, {"time_limit", microseconds(1min)}})),
                "make that time shorter");
  check_refused(Machine{}.validate(with("warn_signal", SignalAndTime{65, 60'000'000})), "signals are 1 to 64");
  check_refused(Machine{}.validate(with("warn_signal", SignalAndTime{10, 1})), "a second to a day");
  check_refused(Machine{}.validate(with("warn_signal_to", "main")), "without warn_signal");
  check_refused(Machine{}.validate(with_all({{"warn_signal", usr1}, {"warn_signal_to", "all"}, {"time_limit", hour}})),
                "write 'main' or 'steps'");
}

TEST_CASE("a checkpoint is a signal and the time for it") {
  const auto spec = Machine{}.validate(with("checkpoint_signal", SignalAndTime{10, 60'000'000}));
  INFO(message_of(spec));
  REQUIRE(spec);
  CHECK(spec->checkpoint_signal == CheckpointSignal{.number = 10, .grace = 60s});
  CHECK(std::get<SignalAndTime>(spec_view(*spec).at("checkpoint_signal").storage) == SignalAndTime{10, 60'000'000});
  CHECK_FALSE(Machine{}.validate(minimal())->checkpoint_signal);
  CHECK_FALSE(spec_view(*Machine{}.validate(minimal())).contains("checkpoint_signal"));
  check_refused(Machine{}.validate(with("checkpoint_signal", SignalAndTime{0, 60'000'000})), "signals are 1 to 64");
  check_refused(Machine{}.validate(with("checkpoint_signal", SignalAndTime{65, 60'000'000})), "signals are 1 to 64");
  check_refused(Machine{}.validate(with("checkpoint_signal", SignalAndTime{9, 60'000'000})),
                "checkpoint_signal SIGKILL never reaches a program");
  check_refused(Machine{}.validate(with("checkpoint_signal", SignalAndTime{19, 60'000'000})), "SIGSTOP");
  check_refused(Machine{}.validate(with("checkpoint_signal", SignalAndTime{10, 999'999})), "a second to an hour");
  check_refused(Machine{}.validate(with("checkpoint_signal", SignalAndTime{10, 3'600'000'001})), "a second to an hour");
  check_refused(Machine{}.validate(with("checkpoint_signal", "USR1")), "must be a signal and time, not a text");
}

TEST_CASE("a job may be parked unless it says that it must not") {
  CHECK(Machine{}.validate(minimal())->parkable);
  CHECK(Machine{}.validate(with("parkable", true))->parkable);
  const auto spec = Machine{}.validate(with("parkable", false));
  REQUIRE(spec);
  CHECK_FALSE(spec->parkable);
  CHECK(spec_view(*spec).at("parkable") == Value(false));
  CHECK_FALSE(spec_view(*Machine{}.validate(minimal())).contains("parkable"));
  check_refused(Machine{}.validate(with("parkable", "no")), "must be a boolean, not a text");
}

TEST_CASE("a job's own warm-up may also be none") {
  CHECK_FALSE(Machine{}.validate(minimal())->warmup);
  const auto spec = Machine{}.validate(with("warmup", microseconds(30min)));
  REQUIRE(spec);
  CHECK(spec->warmup == 30min);
  CHECK(spec_view(*spec).at("warmup") == microseconds(30min));
  CHECK(Machine{}.validate(with("warmup", microseconds(0s)))->warmup == 0s);
  check_refused(Machine{}.validate(with("warmup", microseconds(24h * 7 + 1s))), "7d00h");
}

TEST_CASE("what a job says about giving way and growing leads back to itself") {
  const auto spec = Machine{}.validate(with_all(
      {{"checkpoint_signal", SignalAndTime{12, 5'000'000}}, {"parkable", false}, {"warmup", microseconds(1h)}}));
  REQUIRE(spec);
  CHECK(*Machine{}.validate(spec_view(*spec)) == *spec);
}

TEST_CASE("more memory for a retry needs retries and a memory to begin with") {
  const auto spec = Machine{}.validate(
      with_all({{"memory", gibi}, {"max_retries", Number{2}}, {"retry_memory_percent", Number{150}}}));
  INFO(message_of(spec));
  REQUIRE(spec);
  CHECK(spec->max_retries == 2);
  CHECK(spec->retry_memory_percent == 150);
  check_refused(Machine{}.validate(with("retry_memory_percent", Number{150})), "without max_retries");
  check_refused(Machine{}.validate(with_all({{"max_retries", Number{2}}, {"retry_memory_percent", Number{150}}})),
                "needs a memory");
  check_refused(Machine{}.validate(with("retry_memory_percent", Number{100})), "101 to 1000");
  check_refused(Machine{}.validate(with("max_retries", Number{101})), "0 to 100");
}

TEST_CASE("begin, singleton and key are kept as they are given") {
  const auto spec = Machine{}.validate(
      with_all({{"begin", std::uint64_t{1'800'000'000'000'000}}, {"singleton", true}, {"key", "nightly 2026-11-30"}}));
  INFO(message_of(spec));
  REQUIRE(spec);
  CHECK(spec->begin == RealTime(Microseconds(1'800'000'000s)));
  CHECK(spec->singleton);
  CHECK(spec->key == "nightly 2026-11-30");
  check_refused(Machine{}.validate(with("key", std::string(129, 'k'))), "129 bytes long");
  check_refused(Machine{}.validate(with("key", "a\nb")), "printable");
}

TEST_CASE("what is learned from earlier jobs is shown as a limit and not as a wish") {
  auto spec = *Machine{}.validate(minimal());
  spec.limits.memory_learned = gibi;
  CHECK(memory_claim(spec.limits) == gibi);
  CHECK(memory_ceiling(spec.limits) == unlimited);
  CHECK(limits_view(spec).contains("memory_learned"));
  CHECK_FALSE(spec_view(spec).contains("memory_learned"));
  CHECK(Machine{}.validate(spec_view(spec)));
}

TEST_CASE("a caller's own process is not made to wait") {
  Machine machine;
  machine.kind = JobKind::foreground;
  for (const auto* key :
       {"after", "array", "begin", "max_retries", "singleton", "key", "warn_signal", "checkpoint_signal"}) {
    CAPTURE(key);
    check_refused(machine.validate(with(key, Number{1})), "the caller's own to set");
  }
  CHECK_FALSE(machine.validate(with("parkable", false))->parkable);
  CHECK(machine.validate(with("warmup", microseconds(1min)))->warmup == 1min);
}
