// The system bus for the bench: libsystemd's own client, so that nothing of the product's is in the floor.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <systemd/sd-bus.h>

namespace mljobd::rate {

struct MessageUnref {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Message = std::unique_ptr<sd_bus_message, MessageUnref>;

// Throws std::runtime_error with the text of the number when it is negative.
int check(int result, const std::string& what);

// Outlives the callbacks that were given to it.
class Bus {
 public:
  using Handler = std::function<void(sd_bus_message*)>;

  Bus();

  [[nodiscard]] Message method_call(const char* destination, const char* path, const char* interface,
                                    const char* member) const;
  [[nodiscard]] Message call(const Message& message) const;
  // An error in the answer is thrown out of wait_until().
  void call_async(const Message& message, Handler handler);
  void on_signal(const char* sender, const char* interface, const char* member, Handler handler);
  // Dispatches until the condition holds. Throws when that takes longer than the bound.
  void wait_until(const std::function<bool()>& condition, std::chrono::seconds bound);

 private:
  struct Unref {
    void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
  };

  static int dispatch(sd_bus_message* message, void* data, sd_bus_error* error);
  void* remember(Handler handler);

  struct Entry {
    Bus* owner = nullptr;
    Handler handler{};
  };

  std::unique_ptr<sd_bus, Unref> bus_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::string failure_{};
};

}  // namespace mljobd::rate
