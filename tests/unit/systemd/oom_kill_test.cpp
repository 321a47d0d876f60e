#include <string>

#include <catch2/catch.hpp>

#include "systemd/journal.hpp"
#include "systemd/journal_reader.hpp"

using namespace mljobd;
using systemd::parse_oom_kill;

TEST_CASE("the kernel's record names the cgroup whose limit fired, and the victim") {
  const auto kill = parse_oom_kill(
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=mljob-train-42.slice,mems_allowed=0,"
      "oom_memcg=/mljob.slice/mljob-train.slice,task_memcg=/mljob.slice/mljob-train.slice/mljob-train-42.slice/"
      "mljob-42-1.service,task=python3,pid=1234,uid=1001");
  REQUIRE(kill);
  CHECK(kill->limited_cgroup == "/mljob.slice/mljob-train.slice");
  CHECK(kill->victim_cgroup == "/mljob.slice/mljob-train.slice/mljob-train-42.slice/mljob-42-1.service");
  CHECK(kill->victim == core::NumberAndName{1234, "python3"});
}

TEST_CASE("when the machine as a whole ran out, no cgroup's limit is named") {
  const auto kill = parse_oom_kill(
      "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
      "task_memcg=/user.slice,task=stress,pid=7,uid=0");
  REQUIRE(kill);
  CHECK(kill->limited_cgroup.empty());
  CHECK(kill->victim_cgroup == "/user.slice");
}

TEST_CASE("a process may call itself what it likes") {
  const auto kill = parse_oom_kill(
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,"
      "task=x,pid=1,uid=0,pid=99,uid=1001");
  REQUIRE(kill);
  CHECK(kill->victim == core::NumberAndName{99, "x,pid=1,uid=0"});

  const auto ugly = parse_oom_kill(
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,"
      "task=\x1b[2J\xff,pid=99,uid=1001");
  REQUIRE(ugly);
  CHECK(ugly->victim.second == "?[2J?");
}

TEST_CASE("other lines, and cut ones, are no record") {
  for (const char* line :
       {"", "Memory cgroup out of memory: Killed process 1234 (python3)", "oom-kill:constraint=CONSTRAINT_MEMCG",
        "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/b",
        "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/b,task=x,pid=1",
        "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/b,task=x,pid=one,uid=0",
        "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/b,task=x,pid=,uid=0",
        "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/b,pid=1,uid=0,task=x",
        "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/b,task=x,uid=0,pid=1"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_oom_kill(line));
  }
}

TEST_CASE("text from the journal is made fit for the bus and for terminals") {
  CHECK(systemd::harmless("Gr\xc3\xb6\xc3\x9f") == "Gr\xc3\xb6\xc3\x9f");
  CHECK(systemd::harmless("a\nb\x07") == "a?b?");
  CHECK(systemd::harmless("cut \xc3") == "cut ?");
}
