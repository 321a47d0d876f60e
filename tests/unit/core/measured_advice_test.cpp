#include "core/measured_advice.hpp"

#include <catch2/catch.hpp>

using namespace mljobd::core;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

// Ran for 100 s: a second of anything is a percent of the run.
JobMeasurements calm() {
  return {.job = 42,
          .run_time = 100s,
          .usage = {.cpu_time = 350s, .tasks = 6, .cpu_waiting = 2s, .io_waiting = 1s},
          .allotment = {.cpus = 4, .cores = 4, .reserved = true},
          .storage = {.type = StorageType::ssd, .device = "sda"}};
}

Finding only_finding(const JobMeasurements& measured) {
  const auto advice = advise_job(measured);
  REQUIRE(advice.findings.size() == 1);
  return advice.findings.front();
}

}  // namespace

TEST_CASE("a job that uses what it has is left alone") {
  const auto advice = advise_job(calm());
  CHECK(advice.job == 42);
  CHECK(advice.num_workers == 3);
  CHECK(advice.threads == 4);
  REQUIRE(advice.findings.size() == 1);
  CHECK(advice.findings[0].evidence ==
        "it used 3.5 of 4.0 CPUs on average; tasks of it waited for a CPU 2% and for data 1% of the time");
  CHECK(advice.findings[0].command.empty());
}

TEST_CASE("a short run is not judged") {
  auto measured = calm();
  measured.run_time = 9999ms;
  measured.usage.cpu_waiting = 9s;
  CHECK_THAT(only_finding(measured).evidence, EndsWith("too short to judge"));
  CHECK(only_finding(measured).command == "jobctl advise --job 42");
  CHECK(advise_job(measured).num_workers == 3);
  measured.finished = true;
  CHECK(only_finding(measured).command.empty());
  measured.run_time = 10s;
  CHECK_THAT(only_finding(measured).evidence, Contains("waited for a CPU 90%"));
}

TEST_CASE("a quota that stops the job is named, with one that would not") {
  auto measured = calm();
  measured.allotment = {.cpus = 8, .cores = 8, .quota_percent = 200};
  measured.usage.cpu_periods = 1000;
  measured.usage.cpu_throttled_periods = 400;
  measured.usage.tasks = 4;
  // A task that waits for the next period waits for a CPU; it is not told twice.
  measured.usage.cpu_waiting = 70s;
  CHECK(only_finding(measured).evidence == "its CPU quota of 200% stopped it in 40% of the periods");
  CHECK(only_finding(measured).command == "jobctl set 42 --cpu-quota 350%");
  measured.finished = true;
  CHECK(only_finding(measured).command == "jobctl submit --cpu-quota 350% -- COMMAND");

  measured.usage.cpu_throttled_periods = 1000;
  CHECK_THAT(only_finding(measured).command, Contains("400%"));  // at most twice as much at once
  measured.allotment.cpus = 3;
  CHECK_THAT(only_finding(measured).command, Contains("300%"));  // and never more than there is
}

TEST_CASE("throttling that does not matter is not mentioned") {
  auto measured = calm();
  measured.allotment.quota_percent = 400;
  measured.usage.cpu_periods = 1000;
  measured.usage.cpu_throttled_periods = 99;
  CHECK_THAT(only_finding(measured).evidence, StartsWith("it used"));
}

TEST_CASE("more threads than CPUs is what a quota or a crowd shows") {
  auto measured = calm();
  measured.allotment = {.cpus = 8, .cores = 8, .quota_percent = 200};
  measured.usage.cpu_periods = 100;
  measured.usage.cpu_throttled_periods = 50;
  measured.usage.tasks = 64;
  CHECK_THAT(only_finding(measured).evidence, EndsWith("with 64 threads for 2 CPUs"));
  CHECK(only_finding(measured).command == "export OMP_NUM_THREADS=2");

  measured = calm();
  measured.usage.cpu_waiting = 60s;
  measured.usage.tasks = 9;
  CHECK(only_finding(measured).command == "export OMP_NUM_THREADS=4");
  measured.usage.tasks = 8;
  CHECK(only_finding(measured).command == "jobctl submit --cpus 6 -- COMMAND");
  measured.usage.tasks = 64;
  measured.finished = true;  // how many it had is not known after the end
  CHECK(only_finding(measured).command == "jobctl submit --cpus 6 -- COMMAND");
}

TEST_CASE("a job that waits for CPUs among others is told to reserve what it used") {
  auto measured = calm();
  measured.allotment = {.cpus = 8, .cores = 8, .sharing_jobs = 3};
  measured.usage.cpu_time = 230s;
  measured.usage.cpu_waiting = 45s;
  const auto finding = only_finding(measured);
  CHECK(finding.evidence == "tasks of it waited for a CPU 45% of the time; it used 2.3 of 8.0 CPUs on average");
  CHECK(finding.effect == "cores of its own take that waiting away: at most 45% shorter");
  CHECK(finding.command == "jobctl submit --cpus 3 -- COMMAND");
}

TEST_CASE("waiting for data asks for more workers, of a hard disk for fewer") {
  auto measured = calm();
  measured.usage.cpu_time = 80s;
  measured.usage.io_waiting = 60s;
  CHECK_THAT(only_finding(measured).evidence,
             StartsWith("tasks of it waited for data 60% of the time, from an SSD (sda)"));
  CHECK_THAT(only_finding(measured).effect, StartsWith("more workers"));
  CHECK(advise_job(measured).num_workers == 4);
  measured.storage = {.type = StorageType::hdd, .device = "sdc"};
  CHECK_THAT(only_finding(measured).effect, StartsWith("fewer workers"));
  CHECK(advise_job(measured).num_workers == 1);
  // Without a CPU to run them on, more workers would not help.
  measured.storage.type = StorageType::nvme;
  measured.usage.cpu_waiting = 50s;
  CHECK(advise_job(measured).findings.size() == 2);
  CHECK(advise_job(measured).num_workers == 3);
}

TEST_CASE("cores that a job has reserved and leaves idle are counted") {
  auto measured = calm();
  measured.usage.cpu_time = 130s;
  CHECK(only_finding(measured).evidence == "it used 1.3 of 4.0 CPUs on average, which are 4 cores of its own");
  CHECK(only_finding(measured).effect == "with 2 it loses nothing, and 2 are free for other jobs");
  CHECK(only_finding(measured).command == "jobctl submit --cpus 2 -- COMMAND");
  // One that shares takes nothing from anybody.
  measured.allotment.reserved = false;
  CHECK(only_finding(measured).command.empty());
}

TEST_CASE("without pressure information nothing is made up") {
  auto measured = calm();
  measured.usage.cpu_waiting.reset();
  measured.usage.io_waiting.reset();
  CHECK_THAT(only_finding(measured).evidence, EndsWith("this kernel does not tell what it waited for"));
  CHECK(only_finding(measured).command == "jobctl doctor");
}

TEST_CASE("numbers that cannot be do no harm") {
  JobMeasurements measured{.run_time = 20s};
  measured.usage.cpu_time = Microseconds(-5);
  measured.usage.cpu_periods = 1;
  measured.usage.cpu_throttled_periods = unlimited;
  measured.usage.cpu_waiting = Microseconds::max();
  measured.usage.io_waiting = Microseconds::max();
  measured.allotment.quota_percent = 0;
  CHECK_FALSE(advise_job(measured).findings.empty());
  CHECK(advise_job(measured).num_workers >= 1);
}
