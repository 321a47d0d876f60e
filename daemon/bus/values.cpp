#include "bus/values.hpp"

#include <type_traits>
#include <utility>
#include <variant>

namespace mljobd::bus {
namespace {

using PairOfStrings = sdbus::Struct<std::string, std::string>;
using SignalStruct = sdbus::Struct<std::int32_t, std::uint64_t>;
using NumberNameStruct = sdbus::Struct<std::uint32_t, std::string>;
using DictionaryOfStrings = std::map<std::string, std::string>;

// The content as the type that sdbus-c++ has for it.
template <class Content>
decltype(auto) bus_form(const Content& content) {
  if constexpr (std::is_same_v<Content, core::StringPairs>) {
    std::vector<PairOfStrings> pairs;
    for (const auto& [first, second] : content) pairs.emplace_back(first, second);
    return pairs;
  } else if constexpr (std::is_same_v<Content, core::StringMap>) {
    return DictionaryOfStrings(content.begin(), content.end());
  } else if constexpr (std::is_same_v<Content, core::SignalAndTime>) {
    return SignalStruct(content.first, content.second);
  } else if constexpr (std::is_same_v<Content, core::NumberAndName>) {
    return NumberNameStruct(content.first, content.second);
  } else if constexpr (std::is_same_v<Content, core::ValueMap>) {
    return to_variants(content);
  } else {
    return (content);
  }
}

sdbus::Variant to_variant(const core::Value& value) {
  return std::visit([](const auto& content) { return sdbus::Variant(bus_form(content)); }, value.storage);
}

void write_variant(sdbus::Message& message, const core::Value& value) {
  std::visit(
      [&](const auto& content) {
        if constexpr (std::is_same_v<std::decay_t<decltype(content)>, core::ValueMap>) {
          message.openVariant("a{sv}");
          write(message, content);
        } else {
          const auto& form = bus_form(content);
          message.openVariant(sdbus::signature_of<std::decay_t<decltype(form)>>::str());
          message << form;
        }
        message.closeVariant();
      },
      value.storage);
}

core::StringPairs pairs_of(const sdbus::Variant& variant) {
  core::StringPairs pairs;
  for (const auto& pair : variant.get<std::vector<PairOfStrings>>()) pairs.emplace_back(pair.get<0>(), pair.get<1>());
  return pairs;
}

core::StringMap strings_of(const sdbus::Variant& variant) {
  const auto strings = variant.get<DictionaryOfStrings>();
  return core::StringMap(strings.begin(), strings.end());
}

// Small integer types widen, so that a caller who says `n 3` or `y 3` is understood.
bool integer_from(const std::string& type, const sdbus::Variant& variant, core::Value& value) {
  if (type == "y") {
    value = core::Value(std::uint32_t{variant.get<std::uint8_t>()});
  } else if (type == "n") {
    value = core::Value(std::int32_t{variant.get<std::int16_t>()});
  } else if (type == "q") {
    value = core::Value(std::uint32_t{variant.get<std::uint16_t>()});
  } else if (type == "i") {
    value = core::Value(variant.get<std::int32_t>());
  } else if (type == "u") {
    value = core::Value(variant.get<std::uint32_t>());
  } else if (type == "x") {
    value = core::Value(variant.get<std::int64_t>());
  } else if (type == "t") {
    value = core::Value(variant.get<std::uint64_t>());
  } else {
    return false;
  }
  return true;
}

bool container_from(const std::string& type, const sdbus::Variant& variant, core::Value& value) {
  if (type == "as") {
    value = core::Value(variant.get<std::vector<std::string>>());
  } else if (type == "au") {
    value = core::Value(variant.get<std::vector<std::uint32_t>>());
  } else if (type == "a(ss)") {
    value = core::Value(pairs_of(variant));
  } else if (type == "a{ss}") {
    value = core::Value(strings_of(variant));
  } else if (type == "(it)") {
    const auto pair = variant.get<SignalStruct>();
    value = core::Value(core::SignalAndTime(pair.get<0>(), pair.get<1>()));
  } else {
    return false;
  }
  return true;
}

bool value_from(const std::string& type, const sdbus::Variant& variant, core::Value& value) {
  if (type == "b") {
    value = core::Value(variant.get<bool>());
  } else if (type == "d") {
    value = core::Value(variant.get<double>());
  } else if (type == "s") {
    value = core::Value(variant.get<std::string>());
  } else {
    return integer_from(type, variant, value) || container_from(type, variant, value);
  }
  return true;
}

}  // namespace

core::Expected<core::ValueMap> from_variants(const VariantMap& variants) {
  core::ValueMap values;
  for (const auto& [key, variant] : variants) {
    const std::string type = variant.isEmpty() ? "" : variant.peekValueType();
    core::Value value;
    if (!value_from(type, variant, value)) {
      return core::failure(core::ErrorCode::invalid_spec,
                           "key \"" + key.substr(0, 64) + "\" has the D-Bus type \"" + type.substr(0, 64) +
                               "\", which no key takes; the interface description lists keys and types");
    }
    values.emplace(key, std::move(value));
  }
  return values;
}

VariantMap to_variants(const core::ValueMap& values) {
  VariantMap variants;
  for (const auto& [key, value] : values) variants.emplace(key, to_variant(value));
  return variants;
}

void write(sdbus::Message& message, const core::ValueMap& values) {
  message.openContainer("{sv}");
  for (const auto& [key, value] : values) {
    message.openDictEntry("sv");
    message << key;
    write_variant(message, value);
    message.closeDictEntry();
  }
  message.closeContainer();
}

}  // namespace mljobd::bus
