#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "client/render_advice.hpp"

using namespace mljobd::client;
using mljobd::core::Value;
using mljobd::core::ValueMap;

namespace {

using Texts = std::vector<std::string>;

ValueMap advice() {
  return {{"job", Value(0U)},
          {"jobs", Value(2U)},
          {"num_workers", Value(4U)},
          {"threads", Value(8U)},
          {"cores", Value(8U)},
          {"cpus", Value(16U)},
          {"storage", Value("nvme")},
          {"storage_device", Value("nvme0n1")},
          {"evidence", Value(Texts{"8 / 2 = 4", "it is fast"})},
          {"effects", Value(Texts{"no core idles", ""})},
          {"commands", Value(Texts{"", "jobctl submit"})}};
}

}  // namespace

TEST_CASE("the page of the advice") {
  CHECK(render_advice(advice(), false) ==
        "For each of 2 trainings on this machine:\n"
        "  num_workers  4\n"
        "  threads      8\n"
        "  cores        8 physical, 16 logical\n"
        "  storage      nvme (nvme0n1)\n"
        "\n"
        "Seen: 8 / 2 = 4.\n"
        "So:   no core idles.\n"
        "\n"
        "Seen: it is fast.\n"
        "Try:  jobctl submit\n");
}

TEST_CASE("who is advised is said") {
  auto one = advice();
  one.insert_or_assign("jobs", Value(1U));
  CHECK_THAT(render_advice(one, false), Catch::StartsWith("For one training on this machine:\n"));
  one.insert_or_assign("job", Value(42U));
  CHECK_THAT(render_advice(one, false), Catch::StartsWith("For job 42:\n"));
}

TEST_CASE("lists of different lengths, and what could harm a terminal, do no harm") {
  auto odd = advice();
  odd.erase("commands");
  odd.insert_or_assign("effects", Value(Texts{"\x1b[2J"}));
  odd.insert_or_assign("storage_device", Value("sd\na"));
  const auto page = render_advice(odd, false);
  CHECK_THAT(page, !Catch::Contains("\x1b"));
  CHECK_THAT(page, Catch::Contains("nvme (sd a)\n"));
  CHECK_THAT(page, Catch::EndsWith("Seen: it is fast.\n"));
}
