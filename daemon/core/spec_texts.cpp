#include "core/spec_texts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include "core/text.hpp"

namespace mljobd::core {
namespace {

constexpr std::size_t maximum_name = 128;
constexpr std::size_t maximum_entries = 4096;  // arguments, and variables of the environment
// Half of what execve(2) takes with the usual 8 MiB of stack.
constexpr std::size_t maximum_together = std::size_t{1024} * 1024;
constexpr std::size_t maximum_argument = std::size_t{128} * 1024;  // MAX_ARG_STRLEN of the kernel, the NUL included
constexpr std::size_t maximum_path = 4096;                         // PATH_MAX, the NUL included
constexpr std::size_t maximum_comment = 1024;
constexpr std::size_t maximum_labels = 64;
constexpr std::size_t maximum_label = 128;

tl::unexpected<Error> refuse(std::string_view key, std::string_view message) {
  return failure(ErrorCode::invalid_spec, std::string(key).append(" ").append(message));
}

tl::unexpected<Error> too_long(std::string_view key, std::size_t size, std::size_t maximum) {
  return refuse(key, "is " + std::to_string(size) + " bytes long: allowed are " + std::to_string(maximum));
}

bool contains_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_key_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_variable_name(std::string_view name) {
  return !name.empty() && is_key_start(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_key_start(c) || is_digit(c); });
}

// What execve(2) takes as argv or envp: a bounded list of strings.
Expected<void> check_list(std::string_view key, const std::vector<std::string>& list) {
  if (list.size() > maximum_entries) {
    return refuse(key,
                  "has " + std::to_string(list.size()) + " entries: allowed are " + std::to_string(maximum_entries));
  }
  std::size_t together = 0;
  for (const auto& entry : list) {
    if (contains_nul(entry)) return refuse(key, "contains a NUL byte: no program can be given one");
    if (!is_valid_utf8(entry)) return refuse(key, "has the entry " + quoted(entry) + ", which is not UTF-8");
    if (entry.size() >= maximum_argument) return too_long(key, entry.size(), maximum_argument - 1);
    together += entry.size() + 1;
  }
  if (together > maximum_together) {
    return refuse(key, "is " + std::to_string(together) + " bytes long in all: allowed are " +
                           std::to_string(maximum_together) + "; put long lists into a file");
  }
  return {};
}

bool is_exported_function(std::string_view variable) {
  return variable.starts_with("BASH_FUNC_") && variable.substr(0, variable.find('=')).ends_with("%%");
}

std::string normalised(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string result;
  for (const auto part : parts) result.append("/").append(part);
  return result.empty() ? "/" : result;
}

}  // namespace

Expected<std::string> check_name(std::string_view key, const std::string& name) {
  if (name.empty()) return refuse(key, "is empty: leave it out to name the job after its program");
  if (name.size() > maximum_name) return too_long(key, name.size(), maximum_name);
  if (!is_valid_utf8(name) || has_control_characters(name) || name.find('/') != std::string::npos) {
    return refuse(key, quoted(name) + " is not allowed: use printable UTF-8 without '/'");
  }
  if (name.front() == '-' || name.front() == '@') {
    return refuse(key, quoted(name) + " may not begin with '-' (an option) or '@' (the last job)");
  }
  if (std::all_of(name.begin(), name.end(), is_digit)) {
    return refuse(key, quoted(name) + " would be taken for a job's number: add a letter");
  }
  return name;
}

Expected<std::string> check_class_name(std::string_view key, const std::string& name) {
  if (name.empty()) return refuse(key, "is empty: leave it out for the default class");
  return name;
}

Expected<std::vector<std::string>> check_command(std::string_view key, const std::vector<std::string>& command) {
  if (command.empty() || command.front().empty()) return refuse(key, "is empty: give the program to run");
  if (auto checked = check_list(key, command); !checked) return tl::unexpected(std::move(checked).error());
  return command;
}

Expected<std::vector<std::string>> check_environment(std::string_view key,
                                                     const std::vector<std::string>& environment) {
  if (auto checked = check_list(key, environment); !checked) return tl::unexpected(std::move(checked).error());
  std::vector<std::string> kept;
  std::map<std::string_view, std::size_t> positions;  // views into `environment`, which outlives them
  for (const auto& variable : environment) {
    if (is_exported_function(variable)) continue;
    const auto equals = variable.find('=');
    const auto name = std::string_view(variable).substr(0, equals);
    if (equals == std::string::npos || !is_variable_name(name)) {
      return refuse(key, "has the entry " + quoted(variable) + ": write KEY=value, the key of letters, digits and '_'");
    }
    const auto [position, added] = positions.try_emplace(name, kept.size());
    if (added) {
      kept.push_back(variable);
    } else {
      kept[position->second] = variable;
    }
  }
  return kept;
}

Expected<std::string> check_path(std::string_view key, const std::string& path) {
  if (!path.starts_with('/')) return refuse(key, quoted(path) + " is not an absolute path: begin it with '/'");
  if (path.size() >= maximum_path) return too_long(key, path.size(), maximum_path - 1);
  if (contains_nul(path) || path.find('\n') != std::string::npos || !is_valid_utf8(path)) {
    return refuse(key, quoted(path) + " is not allowed: a path must be UTF-8 without line breaks and NUL bytes");
  }
  return normalised(path);
}

Expected<std::string> check_submission_key(std::string_view key, const std::string& text) {
  constexpr std::size_t maximum_submission_key = 128;
  if (text.size() > maximum_submission_key) return too_long(key, text.size(), maximum_submission_key);
  if (!is_valid_utf8(text) || has_control_characters(text)) {
    return refuse(key, quoted(text) + " is not allowed: use printable UTF-8");
  }
  return text;
}

Expected<std::string> check_comment(std::string_view key, const std::string& comment) {
  if (comment.size() > maximum_comment) return too_long(key, comment.size(), maximum_comment);
  std::string on_one_line = comment;
  std::replace_if(on_one_line.begin(), on_one_line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  if (!is_valid_utf8(comment) || has_control_characters(on_one_line)) {
    return refuse(key, quoted(comment) + " is not allowed: use printable UTF-8");
  }
  return comment;
}

Expected<StringMap> check_labels(std::string_view key, const StringMap& labels) {
  if (labels.size() > maximum_labels) {
    return refuse(key,
                  "has " + std::to_string(labels.size()) + " entries: allowed are " + std::to_string(maximum_labels));
  }
  for (const auto& [label, value] : labels) {
    if (label.empty()) return refuse(key, "has an entry without a name: name it");
    for (const auto& text : {std::string_view(label), std::string_view(value)}) {
      if (text.size() > maximum_label)
        return too_long(std::string(key) + " " + quoted(label), text.size(), maximum_label);
      if (!is_valid_utf8(text) || has_control_characters(text)) {
        return refuse(key, quoted(text) + " is not allowed: use printable UTF-8");
      }
    }
  }
  return labels;
}

std::string default_job_name(const std::string& program) {
  const auto slash = program.rfind('/');
  return check_name("name", slash == std::string::npos ? program : program.substr(slash + 1)).value_or("job");
}

}  // namespace mljobd::core
