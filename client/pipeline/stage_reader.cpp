#include "client/pipeline/stage_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "client/spec_options.hpp"
#include "core/spec_texts.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

using config::Array;
using config::Member;
using config::Node;
using config::Object;

constexpr std::array<std::string_view, 8> own_keys{"command", "after", "environment", "labels",
                                                   "requeue", "hold",  "singleton",   "parkable"};
constexpr std::array<std::string_view, 4> flag_keys{"requeue", "hold", "singleton", "parkable"};
constexpr std::array<std::string_view, 5> of_one_stage{"name", "command", "after", "array", "key"};
constexpr std::array<std::string_view, 4> dependency_kinds{"ok", "any", "notok", "start"};

template <class T>
const T* content(const Node& node) {
  return std::get_if<T>(&node.content);
}

bool among(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string_view> known_keys() {
  auto keys = spec_option_names(SpecUse::submit);
  keys.insert(keys.end(), own_keys.begin(), own_keys.end());
  return keys;
}

// A text, or a whole number as a person would type it; whether a bare number will do, the option says.
std::optional<std::string> as_typed(const Node& node) {
  if (const auto* text = content<std::string>(node)) return *text;
  if (const auto* number = content<std::int64_t>(node)) return std::to_string(*number);
  if (const auto* number = content<std::uint64_t>(node)) return std::to_string(*number);
  return std::nullopt;
}

}  // namespace

void StageReader::complain(std::size_t line, std::string reason) {
  complaints_.push_back({.line = line, .reason = std::move(reason)});
}

void StageReader::expected(const Node& node, std::string_view key, std::string_view wanted) {
  complain(node.line, std::string(key).append(" must be ").append(wanted).append(", not ").append(kind_of(node)));
}

bool StageReader::allowed_in_defaults(const Member& member) {
  if (!among(member.key, of_one_stage)) return true;
  complain(member.line, member.key + " belongs to one stage and cannot be a default");
  return false;
}

Stage StageReader::read_defaults(const Object& object) {
  Stage defaults;
  for (const auto& member : object) {
    if (allowed_in_defaults(member)) read_member(member, defaults);
  }
  return defaults;
}

Stage StageReader::read_stage(const Object& object, std::size_t line, const Stage& defaults) {
  Stage stage{.line = line};
  for (const auto& member : object) read_member(member, stage);
  const auto has = [&](std::string_view key) {
    return std::any_of(object.begin(), object.end(), [&](const Member& member) { return member.key == key; });
  };
  if (!has("name")) complain(line, "the stage has no name: give it one");
  if (!has("command")) complain(line, "the stage has no command: give it one, as in \"command\": [\"./train\"]");
  for (const auto& [key, value] : defaults.spec) {
    const auto [own, added] = stage.spec.try_emplace(key, value);
    if (added || key != "labels") continue;
    auto& labels = std::get<core::StringMap>(own->second.storage);
    for (const auto& label : std::get<core::StringMap>(value.storage)) labels.insert(label);
  }
  for (const auto& variable : defaults.environment) stage.environment.insert(variable);
  return stage;
}

void StageReader::read_member(const Member& member, Stage& stage) {
  if (member.key == "name") return read_name(member, stage);
  if (member.key == "command") return read_command(member, stage);
  if (member.key == "after") return read_after(member, stage);
  if (among(member.key, flag_keys)) return read_flag(member, stage);
  if (member.key == "environment") {
    stage.environment = read_texts(member);
  } else if (member.key == "labels") {
    if (auto labels = read_texts(member); !labels.empty()) stage.spec.insert_or_assign("labels", std::move(labels));
  } else {
    read_option(member, stage);
  }
}

void StageReader::read_option(const Member& member, Stage& stage) {
  if (!among(member.key, spec_option_names(SpecUse::submit))) {
    const auto meant = core::nearest_word(member.key, known_keys());
    return complain(member.line, "there is no key " + core::quoted(member.key) +
                                     (meant.empty() ? ": the keys are the long options of `jobctl submit`"
                                                    : ": did you mean '" + std::string(meant) + "'?"));
  }
  const auto text = as_typed(member.value);
  if (!text) return expected(member.value, member.key, "a text or a whole number");
  if (auto added = add_spec_option(SpecUse::submit, member.key, *text, surroundings_, stage.spec); !added) {
    std::string_view reason = added.error().message;
    if (reason.starts_with("--")) reason.remove_prefix(2);
    complain(member.value.line, std::string(reason));
  }
}

void StageReader::read_name(const Member& member, Stage& stage) {
  const auto* text = content<std::string>(member.value);
  if (text == nullptr) return expected(member.value, "name", "a text");
  const auto checked = core::check_name("name", *text);
  if (!checked) return complain(member.value.line, checked.error().message);
  stage.name = *checked;
  stage.spec.insert_or_assign("name", *checked);
}

void StageReader::read_command(const Member& member, Stage& stage) {
  std::vector<std::string> command;
  if (const auto* line = content<std::string>(member.value)) {
    if (!line->empty()) command = {"/bin/sh", "-c", *line};
  } else if (const auto* words = content<Array>(member.value)) {
    for (const auto& word : *words) {
      const auto* text = content<std::string>(word);
      if (text == nullptr) return expected(word, "a word of the command", "a text");
      command.push_back(*text);
    }
  } else {
    return expected(member.value, "command", "a list of words, or one line for a shell");
  }
  auto checked = core::check_command("command", command);
  if (!checked) return complain(member.value.line, checked.error().message);
  stage.spec.insert_or_assign("command", std::move(*checked));
}

void StageReader::read_after(const Member& member, Stage& stage) {
  core::StringPairs dependencies;
  if (const auto* list = content<Array>(member.value)) {
    for (const auto& node : *list) read_dependency(node, dependencies);
  } else {
    read_dependency(member.value, dependencies);
  }
  if (!dependencies.empty()) stage.spec.insert_or_assign("after", std::move(dependencies));
}

// "a" or {"any": "a"} or {"any": ["a", "b"]}.
void StageReader::read_dependency(const Node& node, core::StringPairs& dependencies) {
  const auto* object = content<Object>(node);
  if (object == nullptr) return read_jobs("ok", node, dependencies);
  for (const auto& member : *object) {
    if (!among(member.key, dependency_kinds)) {
      complain(member.line,
               core::quoted(member.key) + " is nothing a stage can wait for: there are ok, any, notok, start");
      continue;
    }
    const auto* list = content<Array>(member.value);
    if (list == nullptr) {
      read_jobs(member.key, member.value, dependencies);
    } else {
      for (const auto& job : *list) read_jobs(member.key, job, dependencies);
    }
  }
}

void StageReader::read_jobs(std::string_view kind, const Node& node, core::StringPairs& dependencies) {
  const auto job = as_typed(node);
  if (!job || job->empty()) return expected(node, "after", "the name of a stage, or {\"any\": \"name\"}");
  dependencies.emplace_back(kind, *job);
}

void StageReader::read_flag(const Member& member, Stage& stage) {
  const auto* flag = content<bool>(member.value);
  if (flag == nullptr) return expected(member.value, member.key, "true or false");
  stage.spec.insert_or_assign(member.key, *flag);
}

core::StringMap StageReader::read_texts(const Member& member) {
  core::StringMap texts;
  const auto* object = content<Object>(member.value);
  if (object == nullptr) {
    expected(member.value, member.key, "an object of texts");
    return texts;
  }
  for (const auto& entry : *object) {
    const auto text = as_typed(entry.value);
    if (!text) {
      expected(entry.value, member.key + " " + core::quoted(entry.key), "a text");
    } else {
      texts.insert_or_assign(entry.key, *text);
    }
  }
  return texts;
}

}  // namespace mljobd::client
