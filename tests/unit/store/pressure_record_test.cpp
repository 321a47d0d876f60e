#include "store/pressure_record.hpp"

#include <chrono>
#include <string>

#include <catch2/catch.hpp>

#include "store_support.hpp"

namespace mljobd::store {
namespace {

core::BootTime boot(std::int64_t second) { return core::BootTime(std::chrono::seconds(second)); }

core::PressureState some_state() {
  return {.throttled = {{.id = 3, .memory_high_before = core::unlimited}, {.id = 4, .memory_high_before = 812}},
          .parked = {{.id = 7, .since = boot(99)}},
          .cool_until = boot(120),
          .episode = 5};
}

TEST_CASE("what the pressure policy has done comes back exactly as it was") {
  const auto state = GENERATE(some_state(), core::PressureState{});
  CHECK(value_of(decode_pressure_state(encode_pressure_state(state, "boot"), "boot")) == state);
}

TEST_CASE("after a reboot nobody is throttled or parked any more") {
  CHECK(value_of(decode_pressure_state(encode_pressure_state(some_state(), "boot"), "next")) == core::PressureState{});
}

TEST_CASE("a state that cannot be understood is an error, not a crash") {
  for (const auto* text : {"", "{", "[]", R"({"throttled": 7})", R"({"parked": [{"id": -1}]})", "\xFF"}) {
    CAPTURE(text);
    const auto state = decode_pressure_state(text, "boot");
    REQUIRE_FALSE(state);
    CHECK(state.error().code == core::ErrorCode::storage);
  }
}

TEST_CASE("the details of a decision are one JSON object") {
  CHECK(encode_details({}) == "{}");
  CHECK(encode_details({{"action", "park"},
                        {"dry_run", false},
                        {"freed", std::int64_t{-5}},
                        {"memory_high", core::unlimited},
                        {"inputs", core::ValueMap{{"top_job", std::uint32_t{3}}, {"slope_per_second", -0.5}}}}) ==
        R"({"action":"park","dry_run":false,"freed":-5,"inputs":{"slope_per_second":-0.5,"top_job":3},)"
        R"("memory_high":18446744073709551615})");
}

TEST_CASE("details beyond the bound are left out") {
  const auto of_length = [](std::size_t length) {
    const std::string frame = R"({"a":""})";
    return encode_details({{"a", std::string(length - frame.size(), 'x')}});
  };
  CHECK(of_length(longest_details).size() == longest_details);
  CHECK(of_length(longest_details + 1).empty());
}

}  // namespace
}  // namespace mljobd::store
