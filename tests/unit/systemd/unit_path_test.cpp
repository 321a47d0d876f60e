#include "systemd/unit_path.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace mljobd::systemd;

TEST_CASE("a unit's object path escapes what D-Bus does not allow, and comes back whole") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"mljob-42-1.service", "/org/freedesktop/systemd1/unit/mljob_2d42_2d1_2eservice"},
      {"mljob-train-42.slice", "/org/freedesktop/systemd1/unit/mljob_2dtrain_2d42_2eslice"},
      {"9lives.scope", "/org/freedesktop/systemd1/unit/_39lives_2escope"},
      {"a_b@\xc3\xa9.service", "/org/freedesktop/systemd1/unit/a_5fb_40_c3_a9_2eservice"},
  };
  for (const auto& [unit, path] : table) {
    CHECK(unit_path(unit) == path);
    CHECK(unit_of_path(path) == unit);
  }
}

TEST_CASE("a path that systemd would not write names no unit") {
  for (const char* path : {"", "/", "/org/freedesktop/systemd1/job/7", "/org/freedesktop/systemd1/unit/a_2",
                           "/org/freedesktop/systemd1/unit/a_", "/org/freedesktop/systemd1/unit/a_zz"}) {
    CAPTURE(path);
    CHECK(unit_of_path(path).empty());
  }
}

TEST_CASE("only units of jobs pass the filter that runs before a signal is unpacked") {
  CHECK(is_job_unit_path(unit_path("mljob-42-1.service")));
  CHECK_FALSE(is_job_unit_path(unit_path("mljobd.service")));
  CHECK_FALSE(is_job_unit_path(unit_path("mljob.slice")));
  CHECK_FALSE(is_job_unit_path(unit_path("ssh.service")));
}
