#include "core/job_view.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

using namespace mljobd::core;
using namespace std::chrono_literals;

namespace {

std::set<std::string> keys_of(const ValueMap& map) {
  std::set<std::string> keys;
  for (const auto& entry : map) keys.insert(entry.first);
  return keys;
}

RealTime real(std::int64_t second) { return RealTime(std::chrono::seconds(second)); }
BootTime boot(std::int64_t second) { return BootTime(std::chrono::seconds(second)); }

Job running_job() {
  Job job;
  job.id = 42;
  job.owner = 1000;
  job.owner_name = "alice";
  job.spec.name = "night";
  job.spec.class_name = "train";
  job.spec.command = {"python3", "secret.py"};
  job.spec.workdir = "/home/alice/secret";
  job.spec.environment = {"TOKEN=secret"};
  job.spec.priority = -3;
  job.state = Running{};
  job.submitted = real(1000);
  job.attempt.number = 2;
  job.attempt.started = real(1100);
  job.attempt.started_boot = boot(100);
  return job;
}

ValueMap full_row(const Job& job, Now now = {}) {
  return job_row({.job = job, .now = now, .usage = job.attempt.usage, .warnings = {"cpu_list is not in force"}},
                 row_fields({}).value());
}

}  // namespace

TEST_CASE("the row of a job whose memory is watched has its forecast") {
  const Job job = running_job();
  const ValueMap forecast{{"growth", Value("steady")}};
  const auto row = job_row({.job = job, .forecast = forecast}, row_fields({"id", "forecast"}).value());
  CHECK(keys_of(row) == std::set<std::string>{"id", "forecast"});
  CHECK(row.at("forecast") == Value(forecast));
}

TEST_CASE("the row of a running job is what the contract documents, and no more") {
  const auto row = full_row(running_job(), {.real = real(1160), .boot = boot(160)});
  CHECK(keys_of(row) == std::set<std::string>{"id",         "name",        "class",      "kind",     "owner",
                                              "owner_name", "state",       "reason",     "attempt",  "unit",
                                              "slice",      "submit_time", "start_time", "end_time", "run_time",
                                              "exit_code",  "exit_signal", "result",     "cause",    "limits",
                                              "usage",      "priority",    "warnings"});
  CHECK(row.at("id") == Value(std::uint32_t{42}));
  CHECK(row.at("kind") == Value("batch"));
  CHECK(row.at("owner") == Value(std::uint32_t{1000}));
  CHECK(row.at("state") == Value("running"));
  CHECK(row.at("reason") == Value(""));
  CHECK(row.at("attempt") == Value(std::uint32_t{2}));
  CHECK(row.at("unit") == Value("mljob-42-2.service"));
  CHECK(row.at("slice") == Value("mljob-train-42.slice"));
  CHECK(row.at("submit_time") == Value(std::uint64_t{1'000'000'000}));
  CHECK(row.at("start_time") == Value(std::uint64_t{1'100'000'000}));
  CHECK(row.at("end_time") == Value(std::uint64_t{0}));
  CHECK(row.at("run_time") == Value(std::uint64_t{60'000'000}));
  CHECK(row.at("exit_code") == Value(std::int32_t{-1}));
  CHECK(row.at("exit_signal") == Value(std::uint32_t{0}));
  CHECK(row.at("result") == Value(""));
  CHECK(row.at("cause") == Value(ValueMap{}));
  CHECK(row.at("priority") == Value(std::int32_t{-3}));
  CHECK(row.at("warnings") == Value(std::vector<std::string>{"cpu_list is not in force"}));
}

TEST_CASE("a row has the keys that were asked for") {
  const auto job = running_job();
  const auto fields = row_fields({"state", "id", "array_id", "state"});
  REQUIRE(fields);
  CHECK(fields->size() == 3);
  CHECK(contains(*fields, "id"));
  CHECK_FALSE(contains(*fields, "usage"));
  // It is in no array.
  CHECK(job_row({.job = job}, *fields) == ValueMap{{"id", std::uint32_t{42}}, {"state", "running"}});
}

TEST_CASE("a key that no row has is refused with those there are") {
  const auto fields = row_fields({"id", "memory"});
  REQUIRE_FALSE(fields);
  CHECK(fields.error().code == ErrorCode::invalid_spec);
  CHECK_THAT(fields.error().message, Catch::Matchers::Contains("no 'memory'; there are id name class"));
}

TEST_CASE("a job that was never tried has no units") {
  auto job = running_job();
  job.state = Queued{};
  job.attempt = {};
  const auto row = full_row(job);
  CHECK(row.at("unit") == Value(""));
  CHECK(row.at("slice") == Value(""));
  CHECK(row.at("start_time") == Value(std::uint64_t{0}));
  CHECK(row.at("run_time") == Value(std::uint64_t{0}));
}

TEST_CASE("one that stands still shows since when") {
  auto job = running_job();
  const Now now{.real = real(1160), .boot = boot(160)};
  CHECK_FALSE(full_row(job, now).contains("frozen_since"));
  job.state = GENERATE(JobState(Frozen{.since = boot(130)}), JobState(Parked{.since = boot(130), .reason = "why"}));
  const auto row = full_row(job, now);
  CHECK(row.at("frozen_since") == Value(std::uint64_t{1'130'000'000}));
  CHECK(row.at("run_time") == Value(std::uint64_t{30'000'000}));
  CHECK(row.at("reason") == Value(std::holds_alternative<Parked>(job.state) ? "why" : ""));
}

TEST_CASE("a finished job shows its end") {
  auto job = running_job();
  job.attempt.ended = real(1200);
  job.attempt.frozen_total = 30s;
  job.attempt.exit_signal = 9;
  job.state = Finished{.result = JobResult::oom, .cause = {.what = CauseKind::own_limit, .limit = 5}};
  const auto row = full_row(job, {.real = real(9999), .boot = boot(1)});
  CHECK(row.at("state") == Value("finished"));
  CHECK(row.at("result") == Value("oom"));
  CHECK(row.at("reason") == Value("oom own-limit"));
  CHECK(row.at("end_time") == Value(std::uint64_t{1'200'000'000}));
  CHECK(row.at("run_time") == Value(std::uint64_t{70'000'000}));
  CHECK(row.at("exit_signal") == Value(std::uint32_t{9}));
  CHECK(row.at("cause") == Value(ValueMap{{"what", "own-limit"}, {"limit", Bytes{5}}}));
}

TEST_CASE("the reason is what the contract writes") {
  CHECK(reason_text(Queued{}).empty());
  CHECK(reason_text(Queued{PendingReason::resources_memory, "needs 12.0G, 3.0G free"}) ==
        "Resources:memory (needs 12.0G, 3.0G free)");
  CHECK(reason_text(Queued{PendingReason::draining, ""}) == "Draining");
  CHECK(reason_text(Held{}) == "Held");
  for (const JobState& state : {JobState(Starting{}), JobState(Running{}), JobState(Frozen{}), JobState(Stopping{})}) {
    CHECK(reason_text(state).empty());
  }
  CHECK(reason_text(Parked{.reason = "12M of 1.8G available, less than 92M"}) ==
        "12M of 1.8G available, less than 92M");
  CHECK(reason_text(Finished{JobResult::done, {}}) == "done");
  CHECK(reason_text(Finished{JobResult::start_failed, {.what = CauseKind::start}}) == "start-failed start");
  CHECK(reason_text(Finished{JobResult::dependency, {.what = CauseKind::dependency}}) == "dependency");
}

TEST_CASE("frozen time is not run time") {
  auto job = running_job();
  job.attempt.frozen_total = 10s;
  const Now now{.real = real(0), .boot = boot(160)};
  CHECK(run_time(job, now) == 50s);
  job.state = Frozen{.since = boot(130)};
  CHECK(run_time(job, now) == 20s);
  job.state = Parked{.since = boot(140)};
  CHECK(run_time(job, now) == 30s);
  job.state = Stopping{};
  CHECK(run_time(job, now) == 50s);
}

TEST_CASE("a run time is never negative and never that of another attempt") {
  auto job = running_job();
  CHECK(run_time(job, {.real = real(0), .boot = boot(50)}) == 0s);
  job.attempt.started_boot.reset();
  CHECK(run_time(job, {.real = real(0), .boot = boot(160)}) == 0s);
  job.attempt.started_boot = boot(100);
  job.state = Queued{};
  CHECK(run_time(job, {.real = real(0), .boot = boot(160)}) == 0s);
  // The clock was set back while it ran.
  job.state = Finished{};
  job.attempt.ended = real(900);
  CHECK(run_time(job, {.real = real(0), .boot = boot(160)}) == 0s);
  job.attempt.started.reset();
  CHECK(run_time(job, {.real = real(0), .boot = boot(160)}) == 0s);
}

TEST_CASE("limits show what was given") {
  JobSpec spec;
  CHECK(limits_view(spec) == ValueMap{{"oom_policy", "kill"}, {"priority", std::int32_t{0}}});
  spec.limits = {.memory = 1, .memory_max = unlimited, .swap_max = 0, .cpu_quota_percent = 250, .cpu_list = "0-3"};
  spec.time_limit = 2s;
  spec.stop_timeout = 0s;
  CHECK(limits_view(spec) == ValueMap{{"memory", Bytes{1}},
                                      {"memory_max", unlimited},
                                      {"swap_max", Bytes{0}},
                                      {"cpu_quota_percent", std::uint32_t{250}},
                                      {"cpu_list", "0-3"},
                                      {"time_limit", std::uint64_t{2'000'000}},
                                      {"stop_timeout", std::uint64_t{0}},
                                      {"oom_policy", "kill"},
                                      {"priority", std::int32_t{0}}});
}

TEST_CASE("a cause shows what is known") {
  CHECK(cause_view({}).empty());
  CHECK(cause_view({.what = CauseKind::unknown}) == ValueMap{{"what", "unknown"}});
  CHECK(cause_view({.what = CauseKind::host_oom,
                    .limit = 1,
                    .peak = 2,
                    .shmem = 0,
                    .victim = NumberAndName{7, "python3"},
                    .by = "kernel",
                    .advice = "Run it later."}) == ValueMap{{"what", "host-oom"},
                                                            {"limit", Bytes{1}},
                                                            {"peak", Bytes{2}},
                                                            {"shmem", Bytes{0}},
                                                            {"victim", NumberAndName{7, "python3"}},
                                                            {"by", "kernel"},
                                                            {"advice", "Run it later."}});
}

TEST_CASE("usage is shown whole") {
  const auto view = usage_view({.memory_peak = 7, .cpu_time = 3s, .tasks = 2});
  CHECK(keys_of(view) == std::set<std::string>{"memory_current", "memory_peak", "memory_anon", "memory_file",
                                               "memory_shmem", "swap_current", "cpu_time", "io_read", "io_written",
                                               "tasks", "cpu_periods", "cpu_throttled_periods"});
  CHECK(view.at("memory_peak") == Value(Bytes{7}));
  CHECK(view.at("cpu_time") == Value(std::uint64_t{3'000'000}));
  CHECK(view.at("tasks") == Value(std::uint64_t{2}));
  CHECK_FALSE(view.contains("memory_waiting"));
  const auto waiting = usage_view(
      {.cpu_waiting = 4us, .io_waiting = 0us, .io_stalled = 5us, .memory_waiting = 6us, .memory_stalled = 7us});
  CHECK(waiting.at("cpu_waiting") == Value(std::uint64_t{4}));
  CHECK(waiting.at("io_waiting") == Value(std::uint64_t{0}));
  CHECK(waiting.at("io_stalled") == Value(std::uint64_t{5}));
  CHECK(waiting.at("memory_waiting") == Value(std::uint64_t{6}));
  CHECK(waiting.at("memory_stalled") == Value(std::uint64_t{7}));
}

TEST_CASE("only GetSpec shows command, folder and environment") {
  const auto job = running_job();
  const auto spec = spec_view(job.spec);
  CHECK(spec.at("command") == Value(job.spec.command));
  CHECK(spec.at("workdir") == Value("/home/alice/secret"));
  CHECK(spec.at("environment") == Value(job.spec.environment));
  for (const auto& [key, value] : full_row(job)) {
    INFO(key);
    const auto* text = std::get_if<std::string>(&value.storage);
    CHECK((text == nullptr || text->find("secret") == std::string::npos));
    CHECK_FALSE((std::holds_alternative<std::vector<std::string>>(value.storage) && key != "warnings"));
  }
}
