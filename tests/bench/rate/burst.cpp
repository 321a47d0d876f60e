#include "burst.hpp"

#include <set>
#include <stdexcept>

namespace mljobd::rate {
namespace {

constexpr const char* name = "org.mljobd1";
constexpr const char* path = "/org/mljobd1";
constexpr const char* interface = "org.mljobd1.Manager";
constexpr std::chrono::seconds bound{600};
// The system bus allows 128 calls of one connection to be without an answer.
constexpr std::uint32_t most_unanswered = 100;

Message submission(const Bus& bus) {
  auto message = bus.method_call(name, path, interface, "Submit");
  check(sd_bus_message_append(message.get(), "a{sv}a{sv}", 2, "command", "as", 1, "true", "workdir", "s", "/", 0),
        "Submit");
  return message;
}

class Burst {
 public:
  explicit Burst(Bus& bus) : bus_(bus) {
    bus.on_signal(name, interface, "JobStateChanged", [this](sd_bus_message* message) { state_changed(message); });
  }

  void run(std::uint32_t jobs) {
    for (std::uint32_t sent = 0; sent < jobs; ++sent) {
      bus_.wait_until([&] { return sent - answered_ < most_unanswered; }, bound);
      bus_.call_async(submission(bus_), [this](sd_bus_message*) { ++answered_; });
    }
    bus_.wait_until([&] { return answered_ == jobs && finished_.size() >= jobs; }, bound);
  }

 private:
  void state_changed(sd_bus_message* message) {
    std::uint32_t id = 0;
    const char* state = nullptr;
    const char* reason = nullptr;
    check(sd_bus_message_read(message, "uosss", &id, nullptr, nullptr, &state, &reason), "JobStateChanged");
    if (std::string(state) != "finished") return;
    if (std::string(reason) != "done") throw std::runtime_error("job " + std::to_string(id) + " ended as " + reason);
    finished_.insert(id);
  }

  Bus& bus_;
  std::uint32_t answered_ = 0;
  std::set<std::uint32_t> finished_;
};

}  // namespace

void run_burst(Bus& bus, std::uint32_t jobs) { Burst(bus).run(jobs); }

}  // namespace mljobd::rate
