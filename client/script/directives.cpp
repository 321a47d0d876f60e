#include "client/script/directives.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace mljobd::client {
namespace {

constexpr std::size_t maximum_directives = 4096;
constexpr std::size_t maximum_line = std::size_t{64} * 1024;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

tl::unexpected<Complaint> complain(std::size_t line, std::string reason) {
  return tl::unexpected(Complaint{.line = line, .reason = std::move(reason)});
}

std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  auto line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// One word at the beginning of `rest`, which is consumed. Empty: a quote is not closed.
std::optional<std::string> take_word(std::string_view& rest) {
  std::string word;
  char quote = '\0';
  std::size_t at = 0;
  for (; at < rest.size() && (quote != '\0' || !is_blank(rest[at])); ++at) {
    if (rest[at] == '\\' && at + 1 < rest.size()) {
      word += rest[++at];
    } else if (rest[at] == quote) {
      quote = '\0';
    } else if (quote == '\0' && (rest[at] == '"' || rest[at] == '\'')) {
      quote = rest[at];
    } else {
      word += rest[at];
    }
  }
  if (quote != '\0') return std::nullopt;
  rest.remove_prefix(at);
  return word;
}

tl::expected<std::vector<std::string>, Complaint> split_words(std::string_view rest, std::size_t line) {
  std::vector<std::string> words;
  for (;;) {
    rest.remove_prefix(static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_blank) - rest.begin()));
    if (rest.empty() || rest.front() == '#') return words;
    auto word = take_word(rest);
    if (!word) return complain(line, "a quote is opened and not closed");
    words.push_back(std::move(*word));
  }
}

// What follows the magic word, if the line is a directive.
std::optional<std::pair<DirectiveKind, std::string_view>> directive_text(std::string_view line) {
  for (const auto& [magic, kind] : {std::pair<std::string_view, DirectiveKind>{"#SBATCH", DirectiveKind::slurm},
                                    std::pair<std::string_view, DirectiveKind>{"#JOB", DirectiveKind::job}}) {
    if (!line.starts_with(magic)) continue;
    const auto text = line.substr(magic.size());
    if (text.empty() || is_blank(text.front())) return std::pair(kind, text);
  }
  return std::nullopt;
}

bool is_command(std::string_view line) {
  const auto* const first = std::find_if_not(line.begin(), line.end(), is_blank);
  return first != line.end() && *first != '#';
}

}  // namespace

tl::expected<std::vector<Directive>, Complaint> read_directives(std::string_view script) {
  std::vector<Directive> directives;
  if (script.starts_with(byte_order_mark)) script.remove_prefix(byte_order_mark.size());
  for (std::size_t number = 1; !script.empty(); ++number) {
    const auto line = take_line(script);
    if (is_command(line)) break;
    const auto directive = directive_text(line);
    if (!directive) continue;
    if (line.size() > maximum_line) return complain(number, "the line is longer than 64 KiB");
    auto words = split_words(directive->second, number);
    if (!words) return tl::unexpected(std::move(words).error());
    if (words->empty()) continue;
    if (directives.size() == maximum_directives) return complain(number, "the script has more than 4096 directives");
    directives.push_back({.kind = directive->first, .line = number, .words = std::move(*words)});
  }
  return directives;
}

}  // namespace mljobd::client
