#include "core/job.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "core/settings.hpp"
#include "core/unit_names.hpp"

using namespace mljobd::core;

namespace {

constexpr Bytes mebi = Bytes{1} << 20;

// Every value of the enumeration up to the last has a word of its own that leads back to it.
template <class Enum, class From>
void check_words(Enum last, From from) {
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<Enum>(i);
    const std::string word(to_word(value));
    INFO(i << " " << word);
    CHECK(words.insert(word).second);
    CHECK(from(word) == value);
  }
  CHECK_FALSE(from("no such word"));
}

}  // namespace

TEST_CASE("every word leads back to its value") {
  check_words(JobKind::adopted, job_kind_from);
  check_words(OomPolicy::keep_running, oom_policy_from);
  check_words(OpenMode::truncate, open_mode_from);
  check_words(JobResult::lost, job_result_from);
  check_words(CauseKind::unknown, cause_kind_from);
  check_words(PendingReason::pressure, pending_reason_from);
  check_words(StopReason::pressure, stop_reason_from);
}

TEST_CASE("states have the words of the contract") {
  CHECK(to_word(JobState(Queued{})) == "queued");
  CHECK(to_word(JobState(Held{})) == "held");
  CHECK(to_word(JobState(Starting{})) == "starting");
  CHECK(to_word(JobState(Running{})) == "running");
  CHECK(to_word(JobState(Frozen{})) == "frozen");
  CHECK(to_word(JobState(Parked{})) == "parked");
  CHECK(to_word(JobState(Stopping{})) == "stopping");
  CHECK(to_word(JobState(Finished{})) == "finished");
}

TEST_CASE("which states hold units") {
  CHECK_FALSE(has_units(Queued{}));
  CHECK_FALSE(has_units(Held{}));
  CHECK(has_units(Starting{}));
  CHECK(has_units(Running{}));
  CHECK(has_units(Frozen{}));
  CHECK(has_units(Parked{}));
  CHECK(has_units(Stopping{}));
  CHECK_FALSE(has_units(Finished{}));
  CHECK(is_finished(Finished{}));
  CHECK_FALSE(is_finished(Stopping{}));
}

TEST_CASE("claim and ceiling") {
  CHECK(memory_claim({}) == 0);
  CHECK(memory_ceiling({}) == unlimited);
  CHECK(memory_claim({.memory = 5}) == 5);
  CHECK(memory_ceiling({.memory = 5}) == 5);
  CHECK(memory_claim({.memory_max = 9}) == 0);
  CHECK(memory_ceiling({.memory = 5, .memory_max = 9}) == 9);
  CHECK(memory_ceiling({.memory = 5, .memory_max = unlimited}) == unlimited);
}

TEST_CASE("the names of units lead back to the job") {
  CHECK(job_unit(42, 1, JobKind::batch) == "mljob-42-1.service");
  CHECK(job_unit(42, 3, JobKind::adopted) == "mljob-42-3.scope");
  CHECK(job_slice("train", 42) == "mljob-train-42.slice");
  CHECK(class_slice("train") == "mljob-train.slice");
  CHECK(parse_job_unit("mljob-42-1.service") == UnitOfJob{.id = 42, .attempt = 1, .scope = false});
  CHECK(parse_job_unit("mljob-4294967295-3.scope") == UnitOfJob{.id = 4294967295, .attempt = 3, .scope = true});
  CHECK(parse_job_slice("mljob-train-42.slice") == SliceOfJob{.class_name = "train", .id = 42});
  Job job;
  job.id = 42;
  job.spec.class_name = "train";
  CHECK(job_slice_cgroup(job) == "mljob.slice/mljob-train.slice/mljob-train-42.slice");
}

TEST_CASE("other units are not taken for a job's") {
  const std::string unit = GENERATE("", "mljob.slice", "mljob-.service", "mljob-42.service", "mljob-42-.service",
                                    "mljob-42-0.service", "mljob-0-1.service", "mljob-042-1.service",
                                    "mljob-42-1.slice", "mljob-42-1.servicex", "mljob--42-1.scope", "mljob-+42-1.scope",
                                    "mljob-4294967296-1.service", "xmljob-42-1.service", "mljob-42-1-1.service");
  INFO(unit);
  CHECK_FALSE(parse_job_unit(unit));

  const std::string slice = GENERATE("", "mljob.slice", "mljob-train.slice", "mljob--42.slice", "mljob-train-0.slice",
                                     "mljob-train-042.slice", "mljob-train-42.scope", "mljob-a-b-42.slice");
  INFO(slice);
  CHECK_FALSE(parse_job_slice(slice));
}

TEST_CASE("the defaults are what the seeds ask for") {
  const auto settings = default_settings();
  REQUIRE(find_class(settings, "train") != nullptr);
  REQUIRE(find_class(settings, "validate") != nullptr);
  CHECK(find_class(settings, settings.default_class) != nullptr);
  CHECK(find_class(settings, "trian") == nullptr);
  const auto& train = *find_class(settings, "train");
  const auto& validate = *find_class(settings, "validate");
  CHECK(train.cpu_weight * 3 == validate.cpu_weight * 7);
  CHECK(train.rank > validate.rank);
  CHECK(train.oom_score_adjust < validate.oom_score_adjust);
  for (const auto& job_class : settings.classes) CHECK(job_class.oom_score_adjust > 0);
}

TEST_CASE("the host keeps its part of the memory") {
  Settings settings;
  CHECK(host_memory_reserve(settings, 1024 * mebi) == 256 * mebi);
  CHECK(host_memory_reserve(settings, 16384 * mebi) == 16384 * mebi / 20);
  CHECK(host_memory_reserve(settings, 1024 * 1024 * mebi) == 4096 * mebi);
  CHECK(host_memory_reserve(settings, 300 * mebi) == 150 * mebi);
  settings.host_memory_reserve = 2048 * mebi;
  CHECK(host_memory_reserve(settings, 16384 * mebi) == 2048 * mebi);
  CHECK(host_memory_reserve(settings, 1024 * mebi) == 512 * mebi);
}
