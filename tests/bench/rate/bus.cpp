#include "bus.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

namespace mljobd::rate {
namespace {

constexpr std::uint64_t call_timeout_us = 60'000'000;

}  // namespace

int check(int result, const std::string& what) {
  if (result >= 0) return result;
  throw std::runtime_error(what + ": " + std::strerror(-result));  // NOLINT(concurrency-mt-unsafe): one thread
}

Bus::Bus() {
  sd_bus* bus = nullptr;
  check(sd_bus_open_system(&bus), "cannot reach the system bus");
  bus_.reset(bus);
}

Message Bus::method_call(const char* destination, const char* path, const char* interface, const char* member) const {
  sd_bus_message* message = nullptr;
  check(sd_bus_message_new_method_call(bus_.get(), &message, destination, path, interface, member), member);
  return Message(message);
}

Message Bus::call(const Message& message) const {
  sd_bus_error error{};
  sd_bus_message* answer = nullptr;
  const int result = sd_bus_call(bus_.get(), message.get(), call_timeout_us, &error, &answer);
  const std::string text = error.message != nullptr ? error.message : "no answer";
  sd_bus_error_free(&error);
  if (result < 0) throw std::runtime_error(text);
  return Message(answer);
}

void* Bus::remember(Handler handler) {
  entries_.push_back(std::make_unique<Entry>(Entry{.owner = this, .handler = std::move(handler)}));
  return entries_.back().get();
}

int Bus::dispatch(sd_bus_message* message, void* data, sd_bus_error* /*error*/) {
  auto& entry = *static_cast<Entry*>(data);
  // An exception must not travel through libsystemd's frames.
  try {
    if (const auto* error = sd_bus_message_get_error(message)) throw std::runtime_error(error->message);
    entry.handler(message);
  } catch (const std::exception& exception) {
    entry.owner->failure_ = exception.what();
  }
  return 0;
}

void Bus::call_async(const Message& message, Handler handler) {
  check(sd_bus_call_async(bus_.get(), nullptr, message.get(), dispatch, remember(std::move(handler)), call_timeout_us),
        "cannot send a call");
}

void Bus::on_signal(const char* sender, const char* interface, const char* member, Handler handler) {
  check(sd_bus_match_signal(bus_.get(), nullptr, sender, nullptr, interface, member, dispatch,
                            remember(std::move(handler))),
        "cannot watch a signal");
}

void Bus::wait_until(const std::function<bool()>& condition, std::chrono::seconds bound) {
  const auto deadline = std::chrono::steady_clock::now() + bound;
  while (!condition()) {
    const int handled = check(sd_bus_process(bus_.get(), nullptr), "the bus is gone");
    if (!failure_.empty()) throw std::runtime_error(failure_);
    if (handled > 0) continue;
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) throw std::runtime_error("not done within " + std::to_string(bound.count()) + " s");
    check(sd_bus_wait(bus_.get(), static_cast<std::uint64_t>(left.count())), "the bus is gone");
  }
}

}  // namespace mljobd::rate
