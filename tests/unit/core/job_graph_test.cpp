#include "core/job_graph.hpp"

#include <catch2/catch.hpp>

using namespace mljobd::core;

namespace {

bool is_sound(const std::vector<NamedDependencies>& jobs) { return check_graph(jobs).empty(); }

// What the only mistake says between its first words and its advice.
std::string circle_in(const std::vector<NamedDependencies>& jobs) {
  const auto mistakes = check_graph(jobs);
  REQUIRE(mistakes.size() == 1);
  const std::string begin = "stages wait for each other in a circle: ";
  const auto& message = mistakes.front().message;
  REQUIRE(message.starts_with(begin));
  return message.substr(begin.size(), message.find(';') - begin.size());
}

}  // namespace

TEST_CASE("a graph without a circle is one") {
  CHECK(check_graph({}).empty());
  const std::vector<NamedDependencies> night{{"train", {"preprocess"}},
                                             {"preprocess", {}},
                                             {"validate", {"train", "preprocess"}},
                                             {"report", {"validate", "train"}}};
  CHECK(is_sound(night));
}

TEST_CASE("a circle is named in the order its jobs would run") {
  const std::vector<NamedDependencies> two{{"train", {"validate"}}, {"validate", {"train"}}};
  CHECK(circle_in(two) == "train -> validate -> train");
  const std::vector<NamedDependencies> self{{"preprocess", {}}, {"train", {"preprocess", "train"}}};
  CHECK(circle_in(self) == "train -> train");
  // report hangs on the circle without being part of it.
  const std::vector<NamedDependencies> three{
      {"report", {"validate"}}, {"preprocess", {"validate"}}, {"train", {"preprocess"}}, {"validate", {"train"}}};
  CHECK(circle_in(three) == "preprocess -> train -> validate -> preprocess");
}

TEST_CASE("names outside the set make no circle") {
  const std::vector<NamedDependencies> jobs{{"train", {"41", "elsewhere"}}, {"validate", {"train"}}};
  CHECK(is_sound(jobs));
}

TEST_CASE("a long chain is searched without deep recursion, a long circle is not named whole") {
  constexpr std::size_t count = 200'000;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("s" + std::to_string(i));
  std::vector<NamedDependencies> chain;
  for (std::size_t i = 0; i < count; ++i) {
    chain.push_back(
        {names[i], i + 1 < count ? std::vector<std::string_view>{names[i + 1]} : std::vector<std::string_view>{}});
  }
  CHECK(is_sound(chain));
  chain.back().after = {names[0]};
  CHECK(circle_in(chain) ==
        "s0 -> s199999 -> s199998 -> s199997 -> s199996 -> s199995 -> s199994 -> s199993 -> (199992 more) -> s0");
}

TEST_CASE("a circle is where its first job is") {
  const std::vector<NamedDependencies> jobs{{"report", {"validate"}}, {"validate", {"train"}}, {"train", {"validate"}}};
  const auto mistakes = check_graph(jobs);
  REQUIRE(mistakes.size() == 1);
  CHECK(mistakes.front().job == 1);
  CHECK_FALSE(mistakes.front().other);
}

TEST_CASE("each name that is given again is a mistake; jobs without one are none") {
  const std::vector<NamedDependencies> jobs{{"a", {}}, {"", {""}}, {"a", {}}, {"", {}}, {"b", {"a"}}, {"a", {}}};
  const auto mistakes = check_graph(jobs);
  REQUIRE(mistakes.size() == 2);
  CHECK(mistakes[0].job == 2);
  CHECK(mistakes[0].other == 0);
  CHECK(mistakes[0].message == "two stages are called 'a': rename one");
  CHECK(mistakes[1].job == 5);
  CHECK(mistakes[1].other == 0);
}

TEST_CASE("jobs run behind all that they wait for") {
  const std::vector<NamedDependencies> night{
      {"report", {"validate", "41"}}, {"validate", {"train"}}, {"prepare", {}}, {"train", {"prepare"}}};
  CHECK(running_order(night) == std::vector<std::size_t>{2, 3, 1, 0});
}

TEST_CASE("the names that a specification waits for are read where they are written") {
  const ValueMap spec{{"after", StringPairs{{"ok", "train"}, {"any", "41"}}}};
  CHECK(names_after(spec) == std::vector<std::string_view>{"train", "41"});
  CHECK(names_after({}).empty());
  CHECK(names_after({{"after", "train"}}).empty());
}
