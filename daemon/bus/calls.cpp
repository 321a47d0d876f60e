#include "bus/calls.hpp"

namespace mljobd::bus {

std::string error_name(core::ErrorCode code) {
  const auto short_name = [code] {
    switch (code) {
      case core::ErrorCode::no_such_job:
        return "NoSuchJob";
      case core::ErrorCode::not_authorized:
        return "NotAuthorized";
      case core::ErrorCode::invalid_spec:
        return "InvalidSpec";
      case core::ErrorCode::invalid_state:
        return "InvalidState";
      case core::ErrorCode::no_capacity:
        return "NoCapacity";
      case core::ErrorCode::limit_exceeded:
        return "LimitExceeded";
      case core::ErrorCode::gpu_unavailable:
        return "GpuUnavailable";
      case core::ErrorCode::service_manager:
        return "ServiceManager";
      case core::ErrorCode::storage:
        return "Storage";
      case core::ErrorCode::invalid_config:
        return "InvalidConfig";
    }
    return "ServiceManager";
  };
  return std::string("org.mljobd1.Error.") + short_name();
}

sdbus::Error to_bus_error(const core::Error& error) { return {error_name(error.code), error.message}; }

static const sdbus::Message& message_being_handled(const sdbus::IObject& object) {
  const auto* message = object.getCurrentlyProcessedMessage();
  if (message == nullptr) throw sdbus::Error("org.freedesktop.DBus.Error.Failed", "no call is being handled");
  return *message;
}

sdbus::MethodReply reply_to_call(const sdbus::IObject& object) {
  // What an object handles while a method of it runs is a call: sdbus-c++ made it as one.
  return static_cast<const sdbus::MethodCall&>(message_being_handled(object)).createReply();
}

Caller CallerDirectory::caller(const sdbus::IObject& object) {
  constexpr std::size_t most_known = 512;
  const auto& message = message_being_handled(object);
  Caller caller{.connection = message.getSender()};
  if (const auto found = known_.find(caller.connection); found != known_.end()) {
    caller.uid = found->second;
  } else {
    caller.uid = message.getCredsEuid();
    if (known_.size() >= most_known) known_.clear();
    known_.emplace(caller.connection, caller.uid);
  }
  caller.privileged = caller.uid == 0 || caller.uid == administrator_;
  return caller;
}

}  // namespace mljobd::bus
