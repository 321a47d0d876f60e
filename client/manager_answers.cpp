#include "client/manager_answers.hpp"

#include <cstdint>
#include <optional>

namespace mljobd::client {
namespace {

using core::Value;

std::optional<Value> number_from(const std::string& type, const sdbus::Variant& variant) {
  if (type == "b") return Value(variant.get<bool>());
  if (type == "i") return Value(variant.get<std::int32_t>());
  if (type == "u") return Value(variant.get<std::uint32_t>());
  if (type == "x") return Value(variant.get<std::int64_t>());
  if (type == "t") return Value(variant.get<std::uint64_t>());
  if (type == "d") return Value(variant.get<double>());
  return std::nullopt;
}

std::optional<Value> value_from(const sdbus::Variant& variant) {
  const std::string type = variant.peekValueType();
  if (type == "s") return Value(variant.get<std::string>());
  if (type == "as") return Value(variant.get<std::vector<std::string>>());
  if (type == "au") return Value(variant.get<std::vector<std::uint32_t>>());
  if (type == "a{sv}") return Value(values_from(variant.get<VariantMap>()));
  if (type == "a{ss}") {
    const auto texts = variant.get<std::map<std::string, std::string>>();
    return Value(core::StringMap(texts.begin(), texts.end()));
  }
  if (type == "(us)") {
    const auto pair = variant.get<sdbus::Struct<std::uint32_t, std::string>>();
    return Value(core::NumberAndName(pair.get<0>(), pair.get<1>()));
  }
  return number_from(type, variant);
}

}  // namespace

core::ValueMap values_from(const VariantMap& variants) {
  core::ValueMap values;
  for (const auto& [key, variant] : variants) {
    if (variant.isEmpty()) continue;
    if (auto value = value_from(variant)) values.emplace(key, std::move(*value));
  }
  return values;
}

std::vector<core::ValueMap> values_from(const std::vector<VariantMap>& rows) {
  std::vector<core::ValueMap> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(values_from(row));
  return values;
}

}  // namespace mljobd::client
