// A dictionary of typed values, the neutral form of D-Bus a{sv}: specs come in as one, jobs go out as one.
// The alternatives are exactly the D-Bus types that the contract uses, so that the edge converts without choosing.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mljobd::core {

struct Value;
using ValueMap = std::map<std::string, Value, std::less<>>;
using StringPairs = std::vector<std::pair<std::string, std::string>>;  // a(ss)
using StringMap = std::map<std::string, std::string, std::less<>>;     // a{ss}
using SignalAndTime = std::pair<std::int32_t, std::uint64_t>;          // (it)
using NumberAndName = std::pair<std::uint32_t, std::string>;           // (us)

struct Value {
  using Storage = std::variant<bool, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, double, std::string,
                               std::vector<std::string>, std::vector<std::uint32_t>, StringPairs, StringMap,
                               SignalAndTime, NumberAndName, ValueMap>;
  Storage storage;

  template <class T>
    requires std::constructible_from<Storage, T&&>
  Value(T&& value) : storage(std::forward<T>(value)) {}  // NOLINT(google-explicit-constructor): a value is its content
  Value(const char* text) : storage(std::string(text)) {}  // NOLINT(google-explicit-constructor): as above
  Value() = default;

  bool operator==(const Value&) const = default;
};

}  // namespace mljobd::core
