#include "systemd/unit_request.hpp"

#include <catch2/catch.hpp>

using namespace mljobd;
using namespace mljobd::systemd;

TEST_CASE("a user's string cannot become a setting of its own in the unit's file") {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  using Flagged = std::vector<std::pair<std::string, bool>>;
  const std::vector<UnitProperty> refused{
      {"WorkingDirectory", std::string("/tmp\nExecStopPost=/bin/sh")},
      {"WorkingDirectory", std::string("/tmp/swallows the next line\\")},
      {"Description", std::string("a\rb")},
      {"ExecSearchPath", std::vector<std::string>{"/bin", "/x\ny"}},
      {"EnvironmentFiles", Flagged{{"/run/x\n", false}}},
      {"TemporaryFileSystem", Pairs{{"/dev/shm", "size=1\n"}}},
  };
  for (const auto& property : refused) {
    CAPTURE(property.name);
    const auto result = check_fits_unit_file(std::vector{property});
    REQUIRE_FALSE(result);
    CHECK(result.error().code == core::ErrorCode::invalid_spec);
    CHECK(result.error().message.find(property.name) != std::string::npos);
    CHECK_FALSE(check_fits_unit_file(UnitRequest{.name = "a.service", .properties = {property}}));
    CHECK_FALSE(check_fits_unit_file(UnitRequest{.name = "a.service", .auxiliary = {{"a.slice", {property}}}}));
  }
}

TEST_CASE("what systemd escapes itself may hold anything") {
  const ExecCommand command{.path = "/bin/sh", .argv = {"sh", "-c", "echo a\nb \\"}};
  CHECK(check_fits_unit_file(std::vector<UnitProperty>{{"ExecStart", std::vector{command}},
                                                       {"WorkingDirectory", std::string("/tmp/my \\ dir %h é")},
                                                       {"PIDs", std::vector<std::uint32_t>{10}},
                                                       {"MemoryMax", std::uint64_t{10}}}));
}
