#include "core/pressure_decision.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "pressure_fixture.hpp"

using namespace mljobd::core;
using namespace mljobd::core::pressure_fixture;

namespace {

Decision example() {
  return {.id = 9,
          .when = RealTime(seconds(1)),
          .episode = 3,
          .level = 3,
          .rule = PressureRule::available,
          .job = 7,
          .job_name = "evaluate",
          .action = Kill{.checkpoint_grace = seconds(5), .expected = 812 * mebibyte},
          .inputs = {.signs = {.capacity = 1792 * mebibyte, .available = 26 * mebibyte, .top_speed = 0.25},
                     .bounds = {.kill = 36 * mebibyte},
                     .deficit = 200 * mebibyte,
                     .top = JobId{1}},
          .candidates = {{7, "evaluate", "validate", 200, 812 * mebibyte, "chosen"},
                         {1, "train", "train", 300, 900 * mebibyte, "top"}}};
}

}  // namespace

TEST_CASE("a decision in one line") {
  Decision decision = example();
  CHECK(describe(decision) ==
        "kill 7 'evaluate' (812M), with 5s to save its work: 26M of 1.8G available, less than 36M");
  decision.dry_run = true;
  CHECK(describe(decision).starts_with("would kill 7 'evaluate'"));
  decision.dry_run = false;
  decision.action = Park{500 * mebibyte};
  decision.rule = PressureRule::top_slow;
  CHECK(describe(decision) == "park 7 'evaluate' (500M): the top job is at 25 % of its speed, 26M of 1.8G available");
  decision.action = Notice{300LL << 20};
  decision.rule = PressureRule::memory_back;
  CHECK(describe(decision) == "job 7 'evaluate' gave 300M: its memory is free, 26M of 1.8G available");
  decision.action = Freed{.decision = 5, .of = "kill", .after = {-(20LL << 20), std::nullopt, 812LL << 20}};
  decision.rule = PressureRule::none;
  CHECK(describe(decision) == "the kill of 7 'evaluate' freed -20M after 1s, 812M after 15s: 26M of 1.8G available");
  decision.action = LevelChanged{0, 2};
  decision.rule = PressureRule::calm;
  CHECK(describe(decision) == "pressure level 0 to 2: calm again, 26M of 1.8G available");
}

TEST_CASE("a decision as values") {
  const ValueMap values = to_values(example());
  CHECK(values.at("time") == Value(std::uint64_t{1000000}));
  CHECK(values.at("episode") == Value(std::uint64_t{3}));
  CHECK(values.at("level") == Value(std::uint32_t{3}));
  CHECK(values.at("rule") == Value("available"));
  CHECK(values.at("dry_run") == Value(false));
  CHECK(values.at("action") == Value("kill"));
  CHECK(values.at("expected") == Value(Bytes{812 * mebibyte}));
  CHECK(values.at("checkpoint_grace") == Value(std::uint64_t{5000000}));
  CHECK(values.at("job") == Value(std::uint32_t{7}));
  CHECK(values.at("job_name") == Value("evaluate"));
  CHECK(values.at("text") == Value(describe(example())));
  const auto& inputs = std::get<ValueMap>(values.at("inputs").storage);
  CHECK(inputs.at("available") == Value(Bytes{26 * mebibyte}));
  CHECK(inputs.at("kill_below") == Value(Bytes{36 * mebibyte}));
  CHECK(inputs.at("deficit") == Value(Bytes{200 * mebibyte}));
  CHECK(inputs.at("top_job") == Value(std::uint32_t{1}));
  CHECK(inputs.at("top_speed_percent") == Value(25.0));
  CHECK_FALSE(inputs.contains("slope_per_second"));
  const auto& candidates = std::get<ValueMap>(values.at("candidates").storage);
  CHECK(candidates.size() == 2);
  CHECK(candidates.at("1") == Value(ValueMap{{"name", "train"},
                                             {"class", "train"},
                                             {"rank", std::int32_t{300}},
                                             {"size", Bytes{900 * mebibyte}},
                                             {"verdict", "top"}}));
  CHECK_FALSE(values.contains("candidates_left_out"));
  CHECK(values.at("id") == Value(std::uint64_t{9}));

  Decision freed = example();
  freed.action = Freed{.decision = 9, .of = "park", .after = {1, std::nullopt, -3}};
  const ValueMap effect = to_values(freed);
  CHECK(effect.at("action") == Value("freed"));
  CHECK(effect.at("decision") == Value(std::uint64_t{9}));
  CHECK(effect.at("of") == Value("park"));
  CHECK(effect.at("freed_after_1s") == Value(std::int64_t{1}));
  CHECK_FALSE(effect.contains("freed_after_5s"));
  CHECK(effect.at("freed_after_15s") == Value(std::int64_t{-3}));
}

TEST_CASE("every rule has a word and a reason of its own") {
  std::set<std::string> words;
  std::size_t count = 0;
  for (int i = 0; i <= static_cast<int>(PressureRule::mode_changed); ++i, ++count) {
    Decision decision = example();
    decision.rule = static_cast<PressureRule>(i);
    words.emplace(to_word(decision.rule));
    CHECK_FALSE(describe(decision).ends_with(": "));
  }
  CHECK(words.size() == count);
}
