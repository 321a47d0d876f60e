// What every exported method needs: who calls, replies that cannot be forgotten, and errors by their contract names.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <sdbus-c++/sdbus-c++.h>

#include "core/types.hpp"
#include "job_manager.hpp"

namespace mljobd::bus {

[[nodiscard]] sdbus::Error to_bus_error(const core::Error& error);
[[nodiscard]] std::string error_name(core::ErrorCode code);

// Asks the bus once for each connection: a unique name is never given to another while the bus lives.
class CallerDirectory {
 public:
  // `administrator` may do what root may.
  explicit CallerDirectory(core::UserId administrator) : administrator_(administrator) {}

  // Of the message that `object` handles at this moment. Throws sdbus::Error when the bus does not tell.
  [[nodiscard]] Caller caller(const sdbus::IObject& object);

 private:
  core::UserId administrator_;
  std::map<std::string, core::UserId> known_;
};

// An empty answer to the call that `object` handles at this moment, for one that is written as a message. The method is
// Async=server, or sdbus-c++ answers as well.
[[nodiscard]] sdbus::MethodReply reply_to_call(const sdbus::IObject& object);

// sdbus-c++ catches its own errors only; anything else would unwind through C.
template <class Function>
auto guarded(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const sdbus::Error&) {
    throw;
  } catch (const std::exception& exception) {
    throw sdbus::Error("org.freedesktop.DBus.Error.Failed", exception.what());
  }
}

template <class Value>
Value value_or_throw(core::Expected<Value> expected) {
  if (!expected) throw to_bus_error(expected.error());
  if constexpr (!std::is_void_v<Value>) return std::move(*expected);
}

// The answer to a call that is given later. Dropped without one, it says so to the caller instead of leaving them
// to their time-out.
template <class... Results>
class PendingReply {
 public:
  explicit PendingReply(sdbus::Result<Results...>&& result) : result_(std::move(result)) {}
  PendingReply(const PendingReply&) = delete;
  PendingReply& operator=(const PendingReply&) = delete;
  ~PendingReply() {
    if (!answered_) fail({core::ErrorCode::service_manager, "the daemon stopped before it could answer; ask again"});
  }

  void succeed(const Results&... results) {
    answered_ = true;
    send([&] { result_.returnResults(results...); });
  }
  void fail(const core::Error& error) {
    answered_ = true;
    send([&] { result_.returnError(to_bus_error(error)); });
  }

 private:
  template <class Send>
  void send(Send&& deliver) noexcept {
    try {
      deliver();
    } catch (const std::exception&) {
      // The caller or the bus is gone: there is nobody to tell.
      answered_ = true;
    }
  }

  sdbus::Result<Results...> result_;
  bool answered_ = false;
};

template <class... Results>
std::shared_ptr<PendingReply<Results...>> pending(sdbus::Result<Results...>&& result) {
  return std::make_shared<PendingReply<Results...>>(std::move(result));
}

// A JobManager::Done that answers a call without results.
[[nodiscard]] inline JobManager::Done answer_to(std::shared_ptr<PendingReply<>> reply) {
  return [reply = std::move(reply)](const core::Expected<void>& outcome) {
    if (outcome) {
      reply->succeed();
    } else {
      reply->fail(outcome.error());
    }
  };
}

}  // namespace mljobd::bus
