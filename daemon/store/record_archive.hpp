// Values to JSON and back, exactly. A structure lists its fields once, in a function template describe(archive, value),
// and both directions walk the same list, so that none can be written and not read.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/job.hpp"
#include "core/types.hpp"
#include "core/value.hpp"

namespace mljobd::store {

using Json = nlohmann::json;

// Thrown while a record is read, caught in decode_text().
struct RecordError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
concept Enumeration = std::is_enum_v<T>;
// The type itself or its const form: written from the one, read into the other.
template <class T, class Of>
concept Either = std::same_as<std::remove_const_t<T>, Of>;
template <class T>
concept Number = std::integral<T> && !std::same_as<T, bool>;

class Writer;
class Reader;

[[nodiscard]] Json to_json_text(const std::string& text);
[[nodiscard]] std::string from_json_text(const Json& json);
// Throws RecordError unless it is an integer of that range.
[[nodiscard]] std::int64_t from_json_signed(const Json& json, std::int64_t lowest, std::int64_t highest);
[[nodiscard]] std::uint64_t from_json_unsigned(const Json& json, std::uint64_t highest);

// What an unknown word is read as: a newer minor version may know more of them.
void enum_from_word(std::string_view word, core::JobKind& value);
void enum_from_word(std::string_view word, core::OomPolicy& value);
void enum_from_word(std::string_view word, core::OpenMode& value);
void enum_from_word(std::string_view word, core::JobResult& value);
void enum_from_word(std::string_view word, core::CauseKind& value);
void enum_from_word(std::string_view word, core::PendingReason& value);
void enum_from_word(std::string_view word, core::StopReason& value);
void enum_from_word(std::string_view word, core::DependencyKind& value);
void enum_from_word(std::string_view word, core::WarnSignal::To& value);

class Writer {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    object_[key] = encode(value);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }

  [[nodiscard]] Json take() { return std::move(object_); }

  static Json encode(bool value) { return value; }
  static Json encode(Number auto value) { return value; }
  static Json encode(Enumeration auto value) { return std::string(core::to_word(value)); }
  static Json encode(const std::string& value) { return to_json_text(value); }
  static Json encode(core::Microseconds value) { return value.count(); }
  static Json encode(core::RealTime value) { return value.time_since_epoch().count(); }
  static Json encode(core::BootTime value) { return value.time_since_epoch().count(); }
  template <class First, class Second>
  static Json encode(const std::pair<First, Second>& value) {
    return Json::array({encode(value.first), encode(value.second)});
  }
  template <class T>
  static Json encode(const std::vector<T>& values) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(encode(value));
    return array;
  }
  // Pairs rather than an object, because a key of a JSON object cannot hold every byte.
  static Json encode(const core::StringMap& values) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(encode(value));
    return array;
  }
  template <class T>
    requires requires(Writer& writer, const T& value) { describe(writer, value); }
  static Json encode(const T& value) {
    Writer writer;
    describe(writer, value);
    return writer.take();
  }

 private:
  Json object_ = Json::object();
};

class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {
    if (!object.is_object()) throw RecordError("an object was expected");
  }

  // A missing key leaves the default.
  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    try {
      decode(*found, value);
    } catch (const RecordError& error) {
      throw RecordError(std::string(key) + ": " + error.what());
    }
  }

  static void decode(const Json& json, bool& value) {
    if (!json.is_boolean()) throw RecordError("true or false was expected");
    value = json.get<bool>();
  }
  template <Number T>
  static void decode(const Json& json, T& value) {
    if constexpr (std::signed_integral<T>) {
      value = static_cast<T>(from_json_signed(json, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    } else {
      value = static_cast<T>(from_json_unsigned(json, std::numeric_limits<T>::max()));
    }
  }
  static void decode(const Json& json, Enumeration auto& value) { enum_from_word(from_json_text(json), value); }
  static void decode(const Json& json, std::string& value) { value = from_json_text(json); }
  static void decode(const Json& json, core::Microseconds& value) { value = microseconds(json); }
  static void decode(const Json& json, core::RealTime& value) { value = core::RealTime(microseconds(json)); }
  static void decode(const Json& json, core::BootTime& value) { value = core::BootTime(microseconds(json)); }
  template <class T>
  static void decode(const Json& json, std::optional<T>& value) {
    decode(json, value.emplace());
  }
  template <class First, class Second>
  static void decode(const Json& json, std::pair<First, Second>& value) {
    if (!json.is_array() || json.size() != 2) throw RecordError("a pair was expected");
    decode(json[0], value.first);
    decode(json[1], value.second);
  }
  template <class T>
  static void decode(const Json& json, std::vector<T>& values) {
    values.clear();
    for (const auto& element : array(json)) decode(element, values.emplace_back());
  }
  static void decode(const Json& json, core::StringMap& values) {
    values.clear();
    for (const auto& element : array(json)) {
      std::pair<std::string, std::string> entry;
      decode(element, entry);
      values.insert_or_assign(std::move(entry.first), std::move(entry.second));
    }
  }
  template <class T>
    requires requires(Reader& reader, T& value) { describe(reader, value); }
  static void decode(const Json& json, T& value) {
    Reader reader(json);
    describe(reader, value);
  }

 private:
  static core::Microseconds microseconds(const Json& json) {
    std::int64_t count = 0;
    decode(json, count);
    return core::Microseconds(count);
  }
  static const Json::array_t& array(const Json& json) {
    if (!json.is_array()) throw RecordError("a list was expected");
    return json.get_ref<const Json::array_t&>();
  }

  const Json& object_;
};

// The edge at which what the readers throw becomes an error (storage, the message a reason without a subject).
template <class Value>
core::Expected<void> decode_text(std::string_view text, Value& value) {
  try {
    Reader::decode(Json::parse(text), value);
    return {};
  } catch (const RecordError& error) {
    return core::failure(core::ErrorCode::storage, error.what());
  } catch (const Json::exception& error) {
    return core::failure(core::ErrorCode::storage, error.what());
  }
}

}  // namespace mljobd::store
