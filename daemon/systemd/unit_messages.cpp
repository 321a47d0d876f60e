#include "systemd/unit_messages.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace mljobd::systemd {
namespace {

// ExecStart= replaces variables in arguments; "$$" is a dollar sign.
std::string without_expansion(const std::string& argument) {
  std::string escaped;
  escaped.reserve(argument.size());
  for (const char character : argument) escaped.append(character == '$' ? 2 : 1, character);
  return escaped;
}

// sdbus-c++ writes structs only from its own tuple type; these are written by hand instead of copied into one.
// Not ExecStartEx, whose "no-env-expand" would say the same: systemd 252 writes that name into the unit's file, knows
// it not when daemon-reload reads the file again, and the service then has lost its slice.
void write(sdbus::Message& message, const ExecCommand& command) {
  constexpr bool failure_is_ignored = false;
  std::vector<std::string> arguments;
  arguments.reserve(command.argv.size());
  for (const auto& argument : command.argv) arguments.push_back(without_expansion(argument));
  message.openStruct("sasb");
  message << command.path << arguments << failure_is_ignored;
  message.closeStruct();
}

void write(sdbus::Message& message, const std::pair<std::string, bool>& item) {
  message.openStruct("sb");
  message << item.first << item.second;
  message.closeStruct();
}

void write(sdbus::Message& message, const std::pair<std::string, std::string>& item) {
  message.openStruct("ss");
  message << item.first << item.second;
  message.closeStruct();
}

template <class T>
void write_variant(sdbus::Message& message, const char* signature, const T& value) {
  message.openVariant(signature);
  message << value;
  message.closeVariant();
}

template <class Element>
void write_structs(sdbus::Message& message, const std::string& signature, const std::vector<Element>& elements) {
  message.openVariant("a" + signature);
  message.openContainer(signature);
  for (const auto& element : elements) write(message, element);
  message.closeContainer();
  message.closeVariant();
}

struct ValueWriter {
  sdbus::Message& message;

  void operator()(bool value) const { write_variant(message, "b", value); }
  void operator()(std::int32_t value) const { write_variant(message, "i", value); }
  void operator()(std::uint32_t value) const { write_variant(message, "u", value); }
  void operator()(std::uint64_t value) const { write_variant(message, "t", value); }
  void operator()(const std::string& value) const { write_variant(message, "s", value); }
  void operator()(const std::vector<std::uint8_t>& value) const { write_variant(message, "ay", value); }
  void operator()(const std::vector<std::string>& value) const { write_variant(message, "as", value); }
  void operator()(const std::vector<std::uint32_t>& value) const { write_variant(message, "au", value); }
  void operator()(const std::vector<ExecCommand>& value) const { write_structs(message, "(sasb)", value); }
  void operator()(const std::vector<std::pair<std::string, bool>>& value) const {
    write_structs(message, "(sb)", value);
  }
  void operator()(const std::vector<std::pair<std::string, std::string>>& value) const {
    write_structs(message, "(ss)", value);
  }
};

template <class T>
T read_variant(sdbus::Message& message, const std::string& contents) {
  T value{};
  message.enterVariant(contents);
  message >> value;
  message.exitVariant();
  return value;
}

// sdbus-c++ has no skip(). Its own variant copies the value, so that is for the types which are rare here.
void skip_variant(sdbus::Message& message, const std::string& contents) {
  if (contents == "t") {
    static_cast<void>(read_variant<std::uint64_t>(message, contents));
  } else if (contents == "s") {
    static_cast<void>(read_variant<std::string>(message, contents));
  } else if (contents == "b") {
    static_cast<void>(read_variant<bool>(message, contents));
  } else if (contents == "u") {
    static_cast<void>(read_variant<std::uint32_t>(message, contents));
  } else if (contents == "i") {
    static_cast<void>(read_variant<std::int32_t>(message, contents));
  } else {
    sdbus::Variant value;
    message >> value;
  }
}

std::string hexadecimal(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  // A unit that never started has an id of zeros.
  if (std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; })) return text;
  for (const std::uint8_t byte : bytes) text += {digits[byte >> 4U], digits[byte & 15U]};
  return text;
}

bool read_text(sdbus::Message& message, const std::string& key, UnitStatus& status, PropertiesRead& read) {
  const auto text = [&] { return read_variant<std::string>(message, "s"); };
  if (key == "ActiveState") {
    status.active = active_state_from(text());
    read.has_state = true;
  } else if (key == "SubState") {
    status.sub_state = text();
  } else if (key == "LoadState") {
    status.loaded = text() != "not-found";
  } else if (key == "Result") {
    status.result = text();
    read.has_end = true;
  } else if (key == "Slice") {
    status.slice = text();
  } else if (key == "ControlGroup") {
    status.control_group = text();
  } else {
    return false;
  }
  return true;
}

bool read_number(sdbus::Message& message, const std::string& key, UnitStatus& status) {
  if (key == "ExecMainCode") {
    status.main_code = read_variant<std::int32_t>(message, "i");
  } else if (key == "ExecMainStatus") {
    status.main_status = read_variant<std::int32_t>(message, "i");
  } else {
    return false;
  }
  return true;
}

bool read_time(sdbus::Message& message, const std::string& key, UnitStatus& status) {
  if (key == "ExecMainStartTimestamp") {
    status.main_started = read_variant<std::uint64_t>(message, "t");
  } else if (key == "ExecMainExitTimestamp") {
    status.main_exited = read_variant<std::uint64_t>(message, "t");
  } else {
    return false;
  }
  return true;
}

bool read_one(sdbus::Message& message, const std::string& key, const std::string& contents, UnitStatus& status,
              PropertiesRead& read) {
  if (contents == "s") return read_text(message, key, status, read);
  if (contents == "i") return read_number(message, key, status);
  if (contents == "t") return read_time(message, key, status);
  if (contents == "u" && key == "MainPID") {
    status.main_pid = read_variant<std::uint32_t>(message, contents);
    return true;
  }
  if (contents == "(uo)" && key == "Job") {
    using IdAndPath = sdbus::Struct<std::uint32_t, sdbus::ObjectPath>;
    status.unit_job = std::get<0>(read_variant<IdAndPath>(message, contents));
    return true;
  }
  if (contents == "ay" && key == "InvocationID") {
    status.invocation_id = hexadecimal(read_variant<std::vector<std::uint8_t>>(message, contents));
    return true;
  }
  return false;
}

}  // namespace

void write_properties(sdbus::Message& message, const std::vector<UnitProperty>& properties) {
  message.openContainer("(sv)");
  for (const auto& [name, value] : properties) {
    message.openStruct("sv");
    message << name;
    std::visit(ValueWriter{message}, value);
    message.closeStruct();
  }
  message.closeContainer();
}

void write_request(sdbus::Message& message, const UnitRequest& request) {
  message << request.name << "fail";
  write_properties(message, request.properties);
  message.openContainer("(sa(sv))");
  for (const auto& [name, properties] : request.auxiliary) {
    message.openStruct("sa(sv)");
    message << name;
    write_properties(message, properties);
    message.closeStruct();
  }
  message.closeContainer();
}

PropertiesRead read_properties(sdbus::Message& message, UnitStatus& status) {
  PropertiesRead read;
  std::string key;
  std::string type;
  std::string contents;
  message.enterContainer("{sv}");
  while (message.enterDictEntry("sv")) {
    message >> key;
    message.peekType(type, contents);
    if (!read_one(message, key, contents, status, read)) skip_variant(message, contents);
    message.exitDictEntry();
  }
  message.clearFlags();
  message.exitContainer();
  return read;
}

UnitStatus read_listed_unit(sdbus::Message& message) {
  UnitStatus status;
  std::string description;
  std::string load;
  std::string active;
  std::string following;
  std::uint32_t job = 0;
  std::string job_type;
  sdbus::ObjectPath path;
  sdbus::ObjectPath job_path;
  message >> status.unit >> description >> load >> active >> status.sub_state >> following >> path >> job >> job_type >>
      job_path;
  status.loaded = load != "not-found";
  status.active = active_state_from(active);
  return status;
}

ActiveState active_state_from(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, ActiveState>, 6> words{{{"inactive", ActiveState::inactive},
                                                                           {"activating", ActiveState::activating},
                                                                           {"active", ActiveState::active},
                                                                           {"reloading", ActiveState::reloading},
                                                                           {"deactivating", ActiveState::deactivating},
                                                                           {"failed", ActiveState::failed}}};
  const auto* const found =
      std::find_if(words.begin(), words.end(), [&](const auto& entry) { return entry.first == word; });
  return found == words.end() ? ActiveState::unknown : found->second;
}

}  // namespace mljobd::systemd
