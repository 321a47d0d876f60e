#include <catch2/catch.hpp>

#include "client/spec_options.hpp"
#include "client/units.hpp"
#include "client/values.hpp"

using namespace mljobd::client;
using mljobd::core::Bytes;
using mljobd::core::unlimited;
using mljobd::core::Value;
using mljobd::core::ValueMap;

namespace {

constexpr Bytes gibibyte = Bytes{1} << 30;
const Surroundings around{.workdir = "/home/alice", .total_memory = 64 * gibibyte};

Outcome<ValueMap> spec(const SpecOptions& options) { return spec_from(SpecUse::submit, options, around); }

std::string refusal(const SpecOptions& options) {
  const auto result = spec(options);
  REQUIRE_FALSE(result);
  CHECK(result.error().exit_code == 2);
  return result.error().message;
}

}  // namespace

TEST_CASE("options become the keys and types of the contract") {
  const auto result = spec({.texts = {{"name", "night"},
                                      {"class", "train"},
                                      {"mem", "12G"},
                                      {"mem-max", "50%"},
                                      {"swap-max", "unlimited"},
                                      {"cpu-quota", "150%"},
                                      {"cpu-weight", "250"},
                                      {"cpu-list", "8,0-3"},
                                      {"time", "2h"},
                                      {"output", "out/log.txt"},
                                      {"error", "/tmp/err"}},
                            .labels = {"team=vision", "run=a=b"},
                            .requeue = true,
                            .hold = true});
  REQUIRE(result);
  CHECK(*result == ValueMap{{"name", Value("night")},
                            {"class", Value("train")},
                            {"memory", Value(12 * gibibyte)},
                            {"memory_max", Value(32 * gibibyte)},
                            {"swap_max", Value(unlimited)},
                            {"cpu_quota_percent", Value(std::uint32_t{150})},
                            {"cpu_weight", Value(std::uint64_t{250})},
                            {"cpu_list", Value("0-3,8")},
                            {"time_limit", Value(std::uint64_t{7'200'000'000})},
                            {"output", Value("/home/alice/out/log.txt")},
                            {"error", Value("/tmp/err")},
                            {"labels", Value(mljobd::core::StringMap{{"run", "a=b"}, {"team", "vision"}})},
                            {"requeue", Value(true)},
                            {"hold", Value(true)}});
}

TEST_CASE("nothing is said of what was not asked for") {
  const auto result = spec({});
  REQUIRE(result);
  CHECK(result->empty());
}

TEST_CASE("nice is priority with the other sign") {
  CHECK(spec({.texts = {{"nice", "10"}}}) == ValueMap{{"priority", Value(std::int32_t{-10})}});
  CHECK(spec({.texts = {{"priority", "-7"}}}) == ValueMap{{"priority", Value(std::int32_t{-7})}});
  CHECK_THAT(refusal({.texts = {{"nice", "10"}, {"priority", "1"}}}), Catch::Contains("twice"));
}

TEST_CASE("a number without its unit is refused, with the option's name") {
  CHECK_THAT(refusal({.texts = {{"mem", "12"}}}), Catch::StartsWith("--mem: "));
  CHECK_THAT(refusal({.texts = {{"time", "30"}}}), Catch::StartsWith("--time: "));
  CHECK_THAT(refusal({.texts = {{"cpu-quota", "150"}}}), Catch::Contains("150%"));
  CHECK_THAT(refusal({.texts = {{"cpu-weight", "1e3"}}}), Catch::Contains("whole number"));
  CHECK_THAT(refusal({.texts = {{"name", "\xff"}}}), Catch::Contains("UTF-8"));
}

TEST_CASE("systemd's words are taken for what a job may say") {
  CHECK(spec({.properties = {"MemoryMax=8G", "AllowedCPUs=0-1 4", "RuntimeMaxSec=1h", "OOMPolicy=continue"}}) ==
        ValueMap{{"memory_max", Value(8 * gibibyte)},
                 {"cpu_list", Value("0-1,4")},
                 {"time_limit", Value(std::uint64_t{3'600'000'000})},
                 {"oom_policy", Value("continue")}});
  CHECK_THAT(refusal({.texts = {{"mem-max", "9G"}}, .properties = {"MemoryMax=8G"}}), Catch::Contains("twice"));
}

TEST_CASE("properties that are the daemon's own are refused by name, with what does it instead") {
  CHECK_THAT(refusal({.properties = {"User=root"}}), Catch::Contains("User=") && Catch::Contains("submits"));
  CHECK_THAT(refusal({.properties = {"StandardOutput=append:/etc/passwd"}}), Catch::Contains("--output"));
  CHECK_THAT(refusal({.properties = {"Colour=red"}}), Catch::Contains("MemoryMax"));
  CHECK_THAT(refusal({.properties = {"MemoryMax"}}), Catch::Contains("Property=value"));
}

TEST_CASE("set changes limits only") {
  const auto result = spec_from(SpecUse::set, {.properties = {"OOMPolicy=kill"}}, around);
  REQUIRE_FALSE(result);
  CHECK(result.error().exit_code == 2);
  CHECK(spec_from(SpecUse::set, {.properties = {"MemoryMax=8G"}}, around));
}

TEST_CASE("labels are pairs") { CHECK_THAT(refusal({.labels = {"=x"}}), Catch::Contains("KEY=VALUE")); }

TEST_CASE("what is UTF-8") {
  for (const auto* good : {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    CHECK(is_utf8(good));
  }
  // A lone continuation, a cut sequence, overlong forms, a surrogate, beyond Unicode.
  for (const auto* bad : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("integers of any type are read, and none is bent to fit") {
  const ValueMap map{{"small", Value(std::uint32_t{7})},
                     {"negative", Value(std::int32_t{-1})},
                     {"flag", Value(true)},
                     {"huge", Value(unlimited)}};
  CHECK(value_or<std::uint64_t>(map, "small", 0) == 7);
  CHECK_FALSE(find_value<std::uint64_t>(map, "negative"));
  CHECK_FALSE(find_value<std::int64_t>(map, "huge"));
  CHECK_FALSE(find_value<std::uint32_t>(map, "flag"));
  CHECK_FALSE(find_value<std::uint32_t>(map, "missing"));
}
