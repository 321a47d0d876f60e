#include "core/retry.hpp"

#include <chrono>

#include <catch2/catch.hpp>

using namespace mljobd::core;
using namespace std::chrono_literals;

namespace {

constexpr Bytes gibibyte = Bytes{1} << 30;
constexpr RealTime now{Microseconds(1'700'000'000s)};

Job job_with_retries(std::uint32_t max_retries) {
  Job job;
  job.id = 7;
  job.state = Running{};
  job.spec.max_retries = max_retries;
  job.spec.limits.memory = 4 * gibibyte;
  return job;
}

Verdict verdict_of(JobResult result, CauseKind what = CauseKind::exit) {
  Verdict verdict;
  verdict.result = result;
  verdict.cause.what = what;
  return verdict;
}

bool is_retried(const Job& job, const Verdict& verdict) {
  return retry_after(job, verdict, 64 * gibibyte, now).has_value();
}

}  // namespace

TEST_CASE("what may end better the next time is tried again, as often as was asked for") {
  Job job = job_with_retries(2);
  CHECK(is_retried(job, verdict_of(JobResult::failed)));
  CHECK(is_retried(job, verdict_of(JobResult::signalled, CauseKind::signal)));
  CHECK(is_retried(job, verdict_of(JobResult::oom, CauseKind::total_limit)));
  CHECK(is_retried(job, verdict_of(JobResult::lost, CauseKind::unknown)));
  job.retries = 2;
  CHECK_FALSE(is_retried(job, verdict_of(JobResult::failed)));
  CHECK_FALSE(is_retried(job_with_retries(0), verdict_of(JobResult::failed)));
}

TEST_CASE("what would end alike, and what somebody wanted, is not") {
  Job job = job_with_retries(5);
  for (const auto result : {JobResult::done, JobResult::cancelled, JobResult::timeout, JobResult::dependency,
                            JobResult::start_failed, JobResult::preempted}) {
    CAPTURE(to_word(result));
    CHECK_FALSE(is_retried(job, verdict_of(result)));
  }
  job.state = Stopping{.reason = StopReason::user};
  CHECK_FALSE(is_retried(job, verdict_of(JobResult::failed)));
  job.state = Stopping{.reason = StopReason::time_limit};
  CHECK_FALSE(is_retried(job, verdict_of(JobResult::failed)));
  job.state = Stopping{.reason = StopReason::pressure};
  CHECK_FALSE(is_retried(job, verdict_of(JobResult::failed)));
}

TEST_CASE("the pause doubles up to ten minutes") {
  Job job = job_with_retries(100);
  const auto pause = [&](std::uint32_t retries) {
    job.retries = retries;
    return retry_after(job, verdict_of(JobResult::failed), 64 * gibibyte, now)->not_before - now;
  };
  CHECK(pause(0) == 10s);
  CHECK(pause(1) == 20s);
  CHECK(pause(5) == 320s);
  CHECK(pause(6) == 10min);
  CHECK(pause(99) == 10min);
}

TEST_CASE("an own memory limit is only tried again with more, and never with more than is allowed") {
  Job job = job_with_retries(3);
  const auto oom = verdict_of(JobResult::oom, CauseKind::own_limit);
  CHECK_FALSE(is_retried(job, oom));
  job.spec.retry_memory_percent = 150;
  CHECK(retry_after(job, oom, 64 * gibibyte, now)->memory.value() / gibibyte == 5);
  CHECK(retry_after(job, oom, 64 * gibibyte, now)->memory.value() > 4 * gibibyte * 149 / 100);
  CHECK(retry_after(job, oom, 5 * gibibyte, now)->memory == 5 * gibibyte);
  CHECK_FALSE(retry_after(job, oom, 4 * gibibyte, now).has_value());
  CHECK_FALSE(retry_after(job, verdict_of(JobResult::failed), 64 * gibibyte, now)->memory.has_value());
  job.spec.limits.memory_max = 8 * gibibyte;
  CHECK(retry_after(job, oom, 64 * gibibyte, now)->memory.value() > 8 * gibibyte * 149 / 100);
}
