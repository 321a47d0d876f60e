#include "store/record.hpp"

#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/job.hpp"
#include "store_support.hpp"

namespace mljobd::store {
namespace {

using namespace std::string_literals;

core::JobSpec full_specification() {
  core::JobSpec specification{.kind = core::JobKind::foreground,
                              .name = "größe ✓",
                              .class_name = "validate",
                              .command = {"/bin/sh", "-c", "printf '%s\\n' \"$1\"", "", "line\nbreak", "nul\0byte"s},
                              .workdir = "/data/Räume",
                              .environment = {"A=1", "EMPTY=", "LATIN1=\xE4\xF6\xFC", "EMOJI=🦙"},
                              .priority = -7,
                              .time_limit = core::Microseconds(std::numeric_limits<std::int64_t>::max()),
                              .stop_timeout = core::Microseconds(0),
                              .hold = true,
                              .requeue = true,
                              .parkable = false,
                              .checkpoint_signal = core::CheckpointSignal{.number = 10, .grace = core::Microseconds(7)},
                              .warmup = core::Microseconds(0),
                              .output = "/data/out",
                              .error = "/data/err",
                              .open_mode = core::OpenMode::truncate,
                              .comment = "\xFF\xFE raw",
                              .labels = {{"", "empty key"}, {"\x80", "not UTF-8"}, {"team", "sehen"}}};
  specification.limits = {.memory = 12ULL << 30U,
                          .memory_learned = 11ULL << 30U,
                          .memory_max = core::unlimited,
                          .memory_high = 1,
                          .swap_max = 0,
                          .tasks_max = 512,
                          .cpu_weight = 10000,
                          .io_weight = 1,
                          .cpu_quota_percent = std::numeric_limits<std::uint32_t>::max(),
                          .cpu_list = "0-3,8",
                          .cpus = 4,
                          .oom_score_adjust = -1000,
                          .oom_policy = core::OomPolicy::keep_running,
                          .private_shm = 64ULL << 20U};
  return specification;
}

core::Attempt full_attempt() {
  return {.number = 3,
          .boot_id = "5d2c9b9e-0000-4000-8000-000000000000",
          .started = at(1'700'000'000),
          .started_boot = core::BootTime(core::Microseconds(123456789)),
          .ended = core::RealTime(core::Microseconds(-1)),
          .frozen_total = core::Microseconds(42),
          .exit_code = 137,
          .exit_signal = 9,
          .usage = {.memory_current = 1,
                    .memory_peak = core::unlimited,
                    .memory_anon = 3,
                    .memory_file = 4,
                    .memory_shmem = 5,
                    .swap_current = 6,
                    .cpu_time = core::Microseconds(7),
                    .io_read = 8,
                    .io_written = 9,
                    .tasks = 10,
                    .cpu_periods = 13,
                    .cpu_throttled_periods = 14,
                    .cpu_waiting = core::Microseconds(15),
                    .io_waiting = core::Microseconds(0),
                    .io_stalled = core::Microseconds(16),
                    .memory_waiting = core::Microseconds(17),
                    .memory_stalled = core::Microseconds(18)},
          .warned = true,
          .checkpointed = true,
          .class_oom_before = 11,
          .total_oom_before = 12,
          .reserved_cpus = "2-3,8"};
}

std::vector<core::JobState> all_states() {
  const core::Cause cause{.what = core::CauseKind::own_limit,
                          .limit = 1000,
                          .peak = 1001,
                          .shmem = 0,
                          .victim = core::NumberAndName{4711, "pt_main\xC3("},
                          .by = "kernel",
                          .advice = "ask for 14G: jobctl requeue 42 --memory 14G"};
  std::vector<core::JobState> states{core::Held{},
                                     core::Starting{},
                                     core::Running{},
                                     core::Frozen{core::BootTime(core::Microseconds(99))},
                                     core::Parked{core::BootTime(core::Microseconds(98)), true, false, "12M available"},
                                     core::Parked{.moving = true}};
  for (int reason = 0; reason <= static_cast<int>(core::PendingReason::pressure); ++reason) {
    states.emplace_back(core::Queued{static_cast<core::PendingReason>(reason), "needs 12G, 3G free"});
  }
  for (const auto reason : {core::StopReason::user, core::StopReason::time_limit, core::StopReason::requeue,
                            core::StopReason::main_process_exited, core::StopReason::pressure}) {
    states.emplace_back(core::Stopping{reason, 65534, core::RealTime(core::Microseconds(98))});
    states.emplace_back(core::Stopping{.reason = reason, .saves_until = core::BootTime(core::Microseconds(97))});
  }
  for (int result = 0; result <= static_cast<int>(core::JobResult::lost); ++result) {
    states.emplace_back(core::Finished{static_cast<core::JobResult>(result), cause});
  }
  for (int what = 0; what <= static_cast<int>(core::CauseKind::unknown); ++what) {
    states.emplace_back(core::Finished{.cause = {.what = static_cast<core::CauseKind>(what)}});
  }
  return states;
}

core::Job read_back(const core::Job& job) {
  core::Job read{.id = job.id, .owner = job.owner, .submitted = job.submitted};
  require_success(decode_record(encode_record(job), read));
  require_success(decode_specification(encode_specification(job.spec), read.spec));
  require_success(decode_environment(encode_environment(job.spec), read.spec));
  return read;
}

TEST_CASE("a job comes back exactly as it was, whatever its state") {
  for (const auto& state : all_states()) {
    core::Job job{.id = 42, .owner = 1000, .owner_name = "ålice", .spec = full_specification(), .state = state};
    job.attempt = full_attempt();
    job.preempted_memory = 812ULL << 20U;
    CAPTURE(core::to_word(state), encode_record(job));
    CHECK(read_back(job) == job);
  }
}

TEST_CASE("what was not asked for stays not asked for") {
  const core::Job bare{};
  CHECK(read_back(bare) == bare);
  CHECK_FALSE(read_back(bare).spec.limits.swap_max.has_value());
}

TEST_CASE("every byte sequence survives in a text") {
  core::Job job;
  for (int byte = 0; byte < 256; ++byte) {
    job.spec.environment.push_back("A="s + static_cast<char>(byte));
    job.spec.command.push_back("ä"s + static_cast<char>(byte) + "ö");
  }
  CHECK(read_back(job) == job);
}

TEST_CASE("the environment is in its own document only") {
  core::JobSpec specification{.command = {"true"}, .environment = {"TOKEN=secret"}};
  CHECK(encode_specification(specification).find("secret") == std::string::npos);
  CHECK(encode_environment(specification) == R"(["TOKEN=secret"])");
}

TEST_CASE("keys and words that a newer version added are no obstacle") {
  core::Job job;
  require_success(decode_record(
      R"({"state": {"state": "finished", "result": "oom", "cause": {"what": "meteor", "by": "sky"}, "x": [1]}, "y": {}})",
      job));
  CHECK(job.state ==
        core::JobState(core::Finished{core::JobResult::oom, {.what = core::CauseKind::unknown, .by = "sky"}}));
  require_success(decode_record(R"({"state": {"state": "queued", "reason": "Moon"}})", job));
  CHECK(job.state == core::JobState(core::Queued{}));
}

TEST_CASE("missing keys leave the defaults") {
  core::JobSpec specification;
  require_success(decode_specification("{}", specification));
  CHECK(specification == core::JobSpec{});
  core::Job job;
  require_success(decode_record("{}", job));
  CHECK(job == core::Job{});
}

TEST_CASE("a record that cannot be understood says where") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"state": {"state": "melting"}})", "state: unknown word 'melting'"},
      {R"({"state": {}})", "state: unknown word ''"},
      {R"({"state": {"state": "finished", "result": "fine"}})", "state: result: unknown word 'fine'"},
      {R"({"state": 7})", "state: an object was expected"},
      {R"({"owner_name": 7})", "owner_name: a text was expected"},
      {R"({"owner_name": {"hex": "zz"}})", "owner_name: hexadecimal digits were expected"},
      {R"({"owner_name": {"hex": "abc"}})", "owner_name: hexadecimal digits were expected"},
      {R"({"attempt": {"number": -1}})", "attempt: number: a whole number that is not negative was expected"},
      {R"({"attempt": {"number": 4294967296}})", "attempt: number: number out of range"},
      {R"({"attempt": {"number": 1.5}})", "attempt: number: a whole number that is not negative was expected"},
      {R"({"attempt": {"exit_code": 2147483648}})", "attempt: exit_code: number out of range"},
      {R"({"attempt": {"exit_code": 18446744073709551615}})", "attempt: exit_code: number out of range"},
      {R"({"attempt": {"started": "now"}})", "attempt: started: a whole number was expected"},
      {R"([])", "an object was expected"},
  };
  for (const auto& [text, reason] : cases) {
    CAPTURE(text);
    core::Job job;
    const auto read = decode_record(text, job);
    REQUIRE_FALSE(read);
    CHECK(read.error() == core::Error{core::ErrorCode::storage, reason});
  }
  core::JobSpec specification;
  CHECK_FALSE(decode_specification("{\"name\": \"cut o", specification));
  CHECK_FALSE(decode_specification("", specification));
  CHECK(decode_specification(R"({"hold": 1})", specification).error().message == "hold: true or false was expected");
  CHECK(decode_specification(R"({"command": "ls"})", specification).error().message == "command: a list was expected");
  CHECK(decode_specification(R"({"labels": [["a"]]})", specification).error().message == "labels: a pair was expected");
}

}  // namespace
}  // namespace mljobd::store
