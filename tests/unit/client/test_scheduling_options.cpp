#include <csignal>
#include <cstdlib>
#include <ctime>

#include <catch2/catch.hpp>

#include "client/begin_time.hpp"
#include "client/dependency_list.hpp"
#include "client/signals.hpp"
#include "client/spec_options.hpp"

using namespace mljobd::client;
using namespace mljobd;
using namespace std::chrono_literals;

namespace {

// Wednesday, 25 November 2026, 14:30 UTC.
const core::RealTime now{std::chrono::seconds(1'795'617'000)};

core::RealTime at(std::chrono::seconds since_midnight, int days = 0) {
  return now - 14h - 30min + since_midnight + days * 24h;
}

struct Zone {
  explicit Zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;
  ~Zone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

}  // namespace

TEST_CASE("when a job may begin is said as for sbatch") {
  const Zone zone("UTC");
  const auto [text, expected] = GENERATE(table<std::string, core::RealTime>({
      {"now", now},
      {"now+90", now + 90s},
      {"now+1hour", now + 1h},
      {"now+2days", now + 48h},
      {"NOW+3w", now + 504h},
      {"16:00", at(16h)},
      {"14:30", at(14h + 30min, 1)},
      {"9:05:30", at(9h + 5min + 30s, 1)},
      {"4pm", at(16h)},
      {"4:30PM", at(16h + 30min)},
      {"12am", at(0h, 1)},
      {"12:15pm", at(12h + 15min, 1)},
      {"noon", at(12h, 1)},
      {"midnight", at(0h, 1)},
      {"teatime", at(16h)},
      {"today", now},
      {"tomorrow", at(0h, 1)},
      {"tomorrow 22:00", at(22h, 1)},
      {"2026-11-27", at(0h, 2)},
      {"2026-11-27T06:30", at(6h + 30min, 2)},
      {"2026-11-27t06:30:01", at(6h + 30min + 1s, 2)},
      {"2026-11-20", at(0h, -5)},
      {"11/27", at(0h, 2)},
      {"11/27/26 noon", at(12h, 2)},
      {"112726", at(0h, 2)},
      {"11/24", at(0h, 364)},
  }));
  INFO(text);
  const auto parsed = parse_begin_time(text, now);
  REQUIRE(parsed);
  CHECK((*parsed - expected).count() == 0);
}

TEST_CASE("what is no time to begin at is refused with the forms there are") {
  const Zone zone("UTC");
  const std::string text = GENERATE("", "now+", "now+h", "now+5lightyears", "now-1hour", "now+99999999weeks", "25:00",
                                    "12:60", "13pm", "0am", "7", "2026-02-30", "2026-13-01", "13/13", "2026-11-27T",
                                    "yesterday", "2026-11-27Tx", "1234567", "-1:00");
  INFO(text);
  const auto parsed = parse_begin_time(text, now);
  REQUIRE_FALSE(parsed);
  CHECK_THAT(parsed.error().message, Catch::Contains("write it as in now+1hour"));
}

TEST_CASE("times are local, across a change to summer time too") {
  const Zone zone("CET-1CEST,M3.5.0,M10.5.0/3");
  const core::RealTime eve{std::chrono::seconds(1'774'706'400)};  // 28 March 2026, 14:00 UTC
  CHECK(parse_begin_time("2026-03-29T12:00", eve) == core::RealTime(std::chrono::seconds(1'774'778'400)));
  CHECK(parse_begin_time("12:00", eve) == core::RealTime(std::chrono::seconds(1'774'778'400)));
}

TEST_CASE("what a job waits for") {
  const auto [text, expected] = GENERATE(table<std::string, DependencyList>({
      {"42", {{{"ok", "42"}}, false}},
      {"prepare", {{{"ok", "prepare"}}, false}},
      {"afterok:1:2,afterany:3", {{{"ok", "1"}, {"ok", "2"}, {"any", "3"}}, false}},
      {"after:4,afternotok:5", {{{"start", "4"}, {"notok", "5"}}, false}},
      {"ok:a,any:b,notok:c,start:d", {{{"ok", "a"}, {"any", "b"}, {"notok", "c"}, {"start", "d"}}, false}},
      {"singleton", {{}, true}},
      {"afterok:12_3,singleton", {{{"ok", "12_3"}}, true}},
  }));
  INFO(text);
  CHECK(parse_dependencies(text, "ok") == expected);
  CHECK(parse_dependencies("42", "any")->jobs == core::StringPairs{{"any", "42"}});
  const auto [wrong, reason] = GENERATE(table<std::string, std::string>({
      {"", "names no job"},
      {"afterok:", "names no job"},
      {"afterok:1,,afterok:2", "names no job"},
      {"afterok:1?afterok:2", "waits for one of several"},
      {"after:1+10", "asks for a delay"},
      {"okk:1", "is nothing a job can wait for"},
  }));
  const auto refused = parse_dependencies(wrong, "ok");
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains(reason));
}

TEST_CASE("a warning before the time is over") {
  using Receiver = WarningReceiver;
  CHECK(parse_warning_signal("USR1@120") == WarningSignal{SIGUSR1, 120s, Receiver::steps});
  CHECK(parse_warning_signal("SIGTERM") == WarningSignal{SIGTERM, 60s, Receiver::steps});
  CHECK(parse_warning_signal("B:10@5m") == WarningSignal{10, 300s, Receiver::main_process});
  CHECK(parse_warning_signal("usr2@0") == WarningSignal{SIGUSR2, 0s, Receiver::steps});
  const std::string wrong = GENERATE("", "@5", "USR1@", "USR1@65536", "B:", "USR1@-1", "0@5", "65");
  INFO(wrong);
  CHECK_FALSE(parse_warning_signal(wrong));
}

TEST_CASE("the options of the queue become keys of the contract") {
  const Zone zone("UTC");
  const Surroundings around{.workdir = "/home/alice", .now = now};
  const SpecOptions options{.texts = {{"cpus", "4"},
                                      {"after", "ok:prepare"},
                                      {"array", "0-3%2"},
                                      {"begin", "now+1hour"},
                                      {"signal", "B:USR1@90"},
                                      {"checkpoint-signal", "usr2"},
                                      {"warmup", "30m"},
                                      {"retries", "2"},
                                      {"retry-mem", "1.5x"},
                                      {"key", "night-1"},
                                      {"open-mode", "truncate"}},
                            .requeue = false,
                            .singleton = true,
                            .no_park = true};
  const auto spec = spec_from(SpecUse::submit, options, around);
  REQUIRE(spec);
  CHECK(*spec ==
        core::ValueMap{{"cpus", core::Value(std::uint32_t{4})},
                       {"after", core::Value(core::StringPairs{{"ok", "prepare"}})},
                       {"array", core::Value("0-3%2")},
                       {"begin", core::Value(static_cast<std::uint64_t>((now + 1h).time_since_epoch().count()))},
                       {"warn_signal", core::Value(core::SignalAndTime(SIGUSR1, 90'000'000))},
                       {"checkpoint_signal", core::Value(core::SignalAndTime(SIGUSR2, 60'000'000))},
                       {"warmup", core::Value(std::uint64_t{1'800'000'000})},
                       {"parkable", core::Value(false)},
                       {"max_retries", core::Value(std::uint32_t{2})},
                       {"retry_memory_percent", core::Value(std::uint32_t{150})},
                       {"key", core::Value("night-1")},
                       {"open_mode", core::Value("truncate")},
                       {"requeue", core::Value(false)},
                       {"singleton", core::Value(true)}});
  const auto [name, text, reason] = GENERATE(table<std::string, std::string, std::string>({
      {"cpus", "0", "--cpus: 0 is not a whole number from 1 to 8192"},
      {"cpus", "1.5", "--cpus: \"1.5\" is not a whole number from 1 to 8192"},
      {"retries", "101", "--retries: 101 is not a whole number from 0 to 100"},
      {"retry-mem", "150",
       "--retry-mem: \"150\" does not say how much of the memory it had: write it as in 1.5x or 150%, up to 10x"},
      {"after", "singleton", "--after: write --singleton, an option of its own"},
      {"checkpoint-signal", "USR1@60", "--checkpoint-signal: \"USR1@60\" is no signal: write USR1 or 10"},
      {"checkpoint-grace", "60",
       "--checkpoint-grace: '60' has no unit: write 60m (as Slurm reads it) or 60s (as systemd does)"},
      {"open-mode", "w", "--open-mode: \"w\" is neither append nor truncate"},
  }));
  const auto refused = spec_from(SpecUse::submit, {.texts = {{name, text}}}, around);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == reason);
}

TEST_CASE("the grace of a checkpoint joins its signal, wherever the two were given") {
  core::ValueMap spec;
  REQUIRE(join_checkpoint(spec));
  CHECK(spec.empty());
  REQUIRE(add_spec_option(SpecUse::submit, "checkpoint-grace", "2m", {}, spec));
  const auto alone = join_checkpoint(spec);
  REQUIRE_FALSE(alone);
  CHECK(alone.error().message == "--checkpoint-grace is of no use without --checkpoint-signal");
  REQUIRE(add_spec_option(SpecUse::submit, "checkpoint-signal", "USR1", {}, spec));
  REQUIRE(join_checkpoint(spec));
  CHECK(spec == core::ValueMap{{"checkpoint_signal", core::Value(core::SignalAndTime(SIGUSR1, 120'000'000))}});
  REQUIRE(join_checkpoint(spec));
  CHECK(spec.size() == 1);
}

TEST_CASE("how much more memory a retry gets") {
  const auto [text, percent] = GENERATE(
      table<std::string, std::uint32_t>({{"1.5x", 150}, {"2x", 200}, {"150%", 150}, {"1.25x", 125}, {"10x", 1000}}));
  CHECK(parse_value(OptionKind::growth, "--retry-mem", text, {}) == core::Value(percent));
}

TEST_CASE("a retry with less memory, or without bound, is refused") {
  const auto* const text =
      GENERATE("1x", "0.5x", "100%", "11x", "1e9x", "-2x", "infx", "nanx", "x", "%", "", "1.5", "1.5xx");
  CAPTURE(text);
  const auto refused = parse_value(OptionKind::growth, "--retry-mem", text, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().exit_code == 2);
}
