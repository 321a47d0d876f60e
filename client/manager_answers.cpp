#include "client/manager_answers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace mljobd::client {
namespace {

using core::Value;

template <class Content>
Value read_content(sdbus::Message& message) {
  Content content{};
  message >> content;
  return Value(std::move(content));
}

Value read_text_map(sdbus::Message& message) {
  std::map<std::string, std::string> texts;
  message >> texts;
  return Value(core::StringMap(texts.begin(), texts.end()));
}

Value read_number_and_name(sdbus::Message& message) {
  sdbus::Struct<std::uint32_t, std::string> pair;
  message >> pair;
  return Value(core::NumberAndName(pair.get<0>(), pair.get<1>()));
}

struct Reader {
  std::string_view type;
  Value (*read)(sdbus::Message&);
};

constexpr std::array readers{
    Reader{"s", read_content<std::string>},
    Reader{"t", read_content<std::uint64_t>},
    Reader{"u", read_content<std::uint32_t>},
    Reader{"i", read_content<std::int32_t>},
    Reader{"a{sv}", [](sdbus::Message& message) { return Value(read_dictionary(message)); }},
    Reader{"as", read_content<std::vector<std::string>>},
    Reader{"b", read_content<bool>},
    Reader{"d", read_content<double>},
    Reader{"x", read_content<std::int64_t>},
    Reader{"au", read_content<std::vector<std::uint32_t>>},
    Reader{"a{ss}", read_text_map},
    Reader{"(us)", read_number_and_name},
};

// The end of a container counts as a failed reading, which the next one would inherit.
void leave(sdbus::Message& message) {
  message.clearFlags();
  message.exitContainer();
}

void read_entry(sdbus::Message& message, core::ValueMap& values) {
  std::string key;
  message >> key;
  std::string variant;
  std::string type;
  message.peekType(variant, type);
  const auto* const reader =
      std::find_if(readers.begin(), readers.end(), [&](const Reader& entry) { return entry.type == type; });
  if (reader == readers.end()) {
    sdbus::Variant unknown;
    message >> unknown;
    return;
  }
  message.enterVariant(type);
  values.insert_or_assign(std::move(key), reader->read(message));
  message.exitVariant();
}

core::ValueMap read_entries(sdbus::Message& message) {
  core::ValueMap values;
  while (message.enterDictEntry("sv")) {
    read_entry(message, values);
    message.exitDictEntry();
  }
  leave(message);
  return values;
}

}  // namespace

core::ValueMap read_dictionary(sdbus::Message& message) {
  message.enterContainer("{sv}");
  return read_entries(message);
}

std::vector<core::ValueMap> read_dictionaries(sdbus::Message& message) {
  std::vector<core::ValueMap> rows;
  message.enterContainer("a{sv}");
  while (message.enterContainer("{sv}")) rows.push_back(read_entries(message));
  leave(message);
  return rows;
}

}  // namespace mljobd::client
