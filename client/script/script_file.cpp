#include "client/script/script_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "client/files.hpp"
#include "core/text.hpp"

namespace mljobd::client {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view blanks = " \t";

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

Complaint at_first_line(std::string reason) { return {.line = 1, .reason = std::move(reason)}; }

void remove_carriage_returns(std::string& text) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool line_end = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (!line_end) text[kept++] = text[at];
  }
  text.resize(kept);
}

// binfmt_script of the kernel: blanks, the interpreter, blanks, and the rest as one argument.
std::vector<std::string> interpreter_of(std::string_view content) {
  auto line = content.substr(2, content.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  line.remove_suffix(line.size() - std::min(line.find_last_not_of(blanks) + 1, line.size()));
  std::vector<std::string> words;
  const auto end = line.find_first_of(blanks);
  if (!line.empty()) words.emplace_back(line.substr(0, end));
  if (end != std::string_view::npos) words.emplace_back(line.substr(line.find_first_not_of(blanks, end)));
  return words;
}

bool known_to_path(const std::string& program) {
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, colon)) + "/" + program;
    if (colon != 0 && ::access(candidate.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return false;
}

constexpr std::string_view too_large = "write a small script that calls it";

// Of the kernel's own format: not read to its end, whatever its size.
bool is_program(int fd) {
  std::array<char, 4> magic{};
  const auto got = ::pread(fd, magic.data(), magic.size(), 0);
  return got == static_cast<ssize_t>(magic.size()) && std::string_view(magic.data(), magic.size()) ==
                                                          "\x7F"
                                                          "ELF";
}

// Too large for a script, and not meant as one: no directive stands where directives stand.
bool is_large_program(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0 || std::cmp_less_equal(status.st_size, maximum_script)) return false;
  std::string beginning(std::size_t{64} * 1024, '\0');
  const auto got = ::pread(fd, beginning.data(), beginning.size(), 0);
  beginning.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto directives = read_directives(beginning);
  return !directives || directives->empty();
}

Outcome<std::optional<Script>> script_from(std::string_view path, std::string text) {
  const std::string name = base_name(path);
  auto script = parse_script(name, std::move(text));
  if (!script) return usage_failure(to_sentence(path, script.error()));
  if (*script && ::access((*script)->interpreter.front().c_str(), X_OK) != 0) {
    return usage_failure(
        to_sentence(path, at_first_line("the interpreter " + core::quoted((*script)->interpreter.front()) +
                                        " is not here; install it or name another")));
  }
  return std::move(*script);
}

Outcome<Script> required_script(std::string_view path, std::string text) {
  auto script = script_from(path, std::move(text));
  if (!script) return tl::unexpected(script.error());
  if (!*script) return usage_failure(to_sentence(path, at_first_line("a script begins with #!, as in #!/bin/bash")));
  return std::move(**script);
}

}  // namespace

tl::expected<std::optional<Script>, Complaint> parse_script(std::string_view name, std::string text) {
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  Script script{.name = std::string(name)};
  const bool begins_as_script = text.starts_with("#!");
  const auto line_end = text.find('\n');
  if (begins_as_script && line_end != std::string::npos && text[line_end - 1] == '\r') {
    remove_carriage_returns(text);
    script.line_ends_converted = true;
  }
  const bool binary = text.find('\0') != std::string::npos;
  auto directives = read_directives(text);
  if (!directives) return tl::unexpected(std::move(directives).error());
  // A program, or an archive behind a script that unpacks it.
  if (directives->empty() && (binary || !begins_as_script)) return std::nullopt;
  if (!begins_as_script) {
    return tl::unexpected(at_first_line("it holds directives (line " + std::to_string(directives->front().line) +
                                        ") but does not begin with #!, as in #!/bin/bash"));
  }
  if (binary) return tl::unexpected(at_first_line("it holds a NUL byte: it is no text"));
  script.interpreter = interpreter_of(text);
  if (script.interpreter.empty()) return tl::unexpected(at_first_line("#! names no interpreter: write #!/bin/bash"));
  script.directives = std::move(*directives);
  script.content = std::move(text);
  return script;
}

Outcome<std::optional<Script>> find_script(const std::string& word, CommandForm form) {
  if (word.find('/') == std::string::npos && known_to_path(word)) return std::nullopt;
  const auto fd = open_regular_file(word);
  if (!fd || is_program(fd->get()) || is_large_program(fd->get())) return std::nullopt;
  auto text = read_at_most(fd->get(), word, maximum_script, too_large);
  if (!text) return tl::unexpected(text.error());
  auto script = script_from(word, std::move(*text));
  if (script && *script && form == CommandForm::behind_dashes && (*script)->directives.empty()) return std::nullopt;
  return script;
}

Outcome<Script> read_script(const std::string& path) {
  const auto fd = open_regular_file(path);
  if (!fd) return tl::unexpected(fd.error());
  return read_at_most(fd->get(), path, maximum_script, too_large).and_then([&](std::string&& text) {
    return required_script(path, std::move(text));
  });
}

Outcome<Script> read_script_from(int fd) {
  constexpr std::string_view name = "standard input";
  return read_at_most(fd, name, maximum_script, too_large)
      .and_then([&](std::string&& text) { return required_script(name, std::move(text)); })
      .map([](Script script) {
        script.name = "sbatch";  // what Slurm calls such a job
        return script;
      });
}

std::string to_sentence(std::string_view file, const Complaint& complaint) {
  std::string sentence(file);
  if (complaint.line != 0) sentence.append(":").append(std::to_string(complaint.line));
  return sentence.append(": ").append(complaint.reason);
}

}  // namespace mljobd::client
