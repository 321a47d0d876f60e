// Jobs that a client keeps before its terminal: they start now or not at all.
#include <csignal>
#include <cstdlib>
#include <future>

#include <catch2/catch.hpp>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/manager_client.hpp"
#include "house.hpp"

using namespace mljobd::test;
namespace core = mljobd::core;

namespace {

// What `jobctl run` has: a child that does nothing yet.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ == 0) {
      pause();
      _exit(0);
    }
    REQUIRE(pid_ > 0);
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    REQUIRE(pidfd_ >= 0);
  }
  ~Child() {
    close(pidfd_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] int pidfd() const { return pidfd_; }

 private:
  pid_t pid_;
  int pidfd_ = -1;
};

core::Bytes memory_of_jobs(mljobd::client::ManagerClient& client) {
  const auto properties = client.manager_properties();
  REQUIRE(properties);
  const auto& memory = std::get<core::ValueMap>(properties->at("Memory").storage);
  return std::get<core::Bytes>(memory.at("jobs_memory_max").storage);
}

// The daemon's answer. Meanwhile systemd has to be there.
std::string start(House& house, mljobd::client::ManagerClient& client, const Child& child, core::Bytes memory) {
  auto answer = std::async(std::launch::async, [&] {
    return client.start_foreground(child.pidfd(), {{"class", "train"},
                                                   {"command", std::vector<std::string>{"/usr/bin/python3"}},
                                                   {"workdir", "/"},
                                                   {"memory", memory}});
  });
  REQUIRE(house.reaches([&] { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  const auto outcome = answer.get();
  return outcome ? "started" : outcome.error().message;
}

}  // namespace

TEST_CASE("a job before the terminal passes whoever waits, and is refused where there is no room") {
  House house;
  house.start_daemon();
  setenv("MLJOBD_BUS_ADDRESS", house.bus.address().c_str(), 1);
  const auto client = mljobd::client::ManagerClient::connect(mljobd::client::Bus::session);
  unsetenv("MLJOBD_BUS_ADDRESS");
  REQUIRE(client);
  const auto tenth = memory_of_jobs(**client) / 10;
  (void)house.running_job({{"memory", 6 * tenth}});
  // What is free is kept for this one; the terminal does not wait behind it.
  const auto waiting = house.submit({{"memory", 6 * tenth}});
  REQUIRE(house.reaches([&] { return house.row(waiting).reason.starts_with("Resources:memory"); }));
  const Child child;
  CHECK_THAT(start(house, **client, child, 5 * tenth), Catch::Contains("it cannot start now: Resources:memory (needs"));
  // It has gone as far as PID 1, whose scope has no process here.
  CHECK_THAT(start(house, **client, child, 3 * tenth), Catch::Contains("the process was not found in its scope"));
  CHECK(house.row(waiting).state == "queued");
}
