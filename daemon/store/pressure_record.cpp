#include "store/pressure_record.hpp"

#include "json/value_json.hpp"
#include "store/record_archive.hpp"

namespace mljobd::store {

struct PressureDocument {
  std::string boot_id{};
  core::PressureState state{};
};

template <class Archive>
void describe(Archive& archive, Either<PressureDocument> auto& document) {
  archive("boot_id", document.boot_id);
  archive("throttled", document.state.throttled);
  archive("parked", document.state.parked);
  archive("cool_until", document.state.cool_until);
  archive("episode", document.state.episode);
}

}  // namespace mljobd::store

// Beside the types, where argument-dependent lookup finds them.
namespace mljobd::core {

template <class Archive>
void describe(Archive& archive, store::Either<PressureState::Throttled> auto& job) {
  archive("id", job.id);
  archive("memory_high_before", job.memory_high_before);
}

template <class Archive>
void describe(Archive& archive, store::Either<PressureState::Parked> auto& job) {
  archive("id", job.id);
  archive("since", job.since);
}

}  // namespace mljobd::core

namespace mljobd::store {

std::string encode_pressure_state(const core::PressureState& state, const std::string& boot_id) {
  return Writer::encode(PressureDocument{.boot_id = boot_id, .state = state}).dump();
}

core::Expected<core::PressureState> decode_pressure_state(std::string_view text, const std::string& boot_id) {
  PressureDocument document;
  if (const auto decoded = decode_text(text, document); !decoded) return tl::unexpected(decoded.error());
  return document.boot_id == boot_id ? document.state : core::PressureState{};
}

std::string encode_details(const core::ValueMap& values) {
  // Exactly: it is the record. Who shows it may say what is unlimited in another way.
  std::string text =
      json::to_json<Json>(values, json::Unlimited::number).dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= longest_details ? text : std::string();
}

}  // namespace mljobd::store
