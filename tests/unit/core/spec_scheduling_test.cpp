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
  for (const auto* key : {"after", "array", "begin", "max_retries", "singleton", "key", "warn_signal"}) {
    CAPTURE(key);
    check_refused(machine.validate(with(key, Number{1})), "the caller's own to set");
  }
}
