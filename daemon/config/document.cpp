#include "config/document.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "config/config.hpp"
#include "core/text.hpp"

namespace mljobd::config {
namespace {

using Json = nlohmann::json;

// Far more than there are; keeps the search for duplicates short.
constexpr std::size_t max_keys = 256;

// Tells how far the parser has read, which its events do not.
class TracingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TracingIterator(const char* current, const char** trace) : current_(current), trace_(trace) {}
  reference operator*() const { return *current_; }
  TracingIterator& operator++() {
    *trace_ = ++current_;
    return *this;
  }
  TracingIterator operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TracingIterator& other) const { return current_ == other.current_; }
  bool operator!=(const TracingIterator& other) const { return current_ != other.current_; }

 private:
  const char* current_;
  const char** trace_;
};

// Places only go forward, so that the lines of a large file are counted once.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}
  std::size_t line_of(std::size_t position) {
    position = std::min(position, text_.size());
    if (position > counted_) {
      line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
      counted_ = position;
    }
    return line_;
  }

 private:
  std::string_view text_;
  std::size_t counted_ = 0;
  std::size_t line_ = 1;
};

// "[json.exception.parse_error.101] parse error at line 3, column 5: REASON; last read: 'TEXT'; expected X"
// without the text, which can be long and need not be UTF-8.
std::string reason_of(const Json::exception& error) {
  std::string text = error.what();
  if (const auto place = text.find(", column "); place != std::string::npos) {
    if (const auto colon = text.find(": ", place); colon != std::string::npos) text.erase(0, colon + 2);
  }
  if (const auto read = text.find("; last read: "); read != std::string::npos) {
    const auto expected = text.rfind("; expected ");
    text.erase(read, expected == std::string::npos || expected < read ? std::string::npos : expected - read);
  }
  return text;
}

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const char* const& trace) : begin_(text.data()), trace_(trace), lines_(text) {}

  [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }
  [[nodiscard]] Node take() { return std::move(root_); }

  // The interface that the library calls; false ends the parse.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add_number(value); }
  bool number_unsigned(std::uint64_t value) { return add_number(value); }
  bool number_float(double value, const std::string& /*text*/) { return add_number(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(const Json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*elements*/) { return open(Object{}); }
  bool start_array(std::size_t /*elements*/) { return open(Array{}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    auto& object = std::get<Object>(stack_.back()->content);
    const auto same = [&](const Member& member) { return member.key == name; };
    if (const auto found = std::find_if(object.begin(), object.end(), same); found != object.end()) {
      return fail(core::quoted(name) + " is given twice, first in line " + std::to_string(found->line));
    }
    if (object.size() == max_keys) return fail("more than " + std::to_string(max_keys) + " keys in one object");
    object.push_back({.key = std::move(name), .line = here(0)});
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& error) {
    problem_ = Problem{lines_.line_of(position == 0 ? 0 : position - 1), reason_of(error)};
    return false;
  }

 private:
  [[nodiscard]] std::size_t here(std::size_t read_ahead) {
    const auto position = static_cast<std::size_t>(trace_ - begin_);
    return lines_.line_of(position - std::min(position, read_ahead));
  }
  bool fail(std::string reason) {
    problem_ = Problem{here(0), std::move(reason)};
    return false;
  }
  template <class Content>
  bool add(Content content) {
    place({.line = here(0), .content = std::move(content)});
    return true;
  }
  // The end of a number is found by reading the character after it, which can be that of a new line.
  template <class Content>
  bool add_number(Content content) {
    place({.line = here(1), .content = content});
    return true;
  }
  template <class Content>
  bool open(Content content) {
    if (stack_.size() >= max_depth) return fail("nested more than " + std::to_string(max_depth) + " levels deep");
    // Pointers into a list stay good: it grows again only after its last element was closed.
    stack_.push_back(&place({.line = here(0), .content = std::move(content)}));
    return true;
  }
  bool close() {
    stack_.pop_back();
    return true;
  }
  Node& place(Node node) {
    if (stack_.empty()) return root_ = std::move(node);
    if (auto* array = std::get_if<Array>(&stack_.back()->content)) return array->emplace_back(std::move(node));
    return std::get<Object>(stack_.back()->content).back().value = std::move(node);
  }

  const char* begin_;
  const char* const& trace_;
  LineCounter lines_;
  Node root_{};
  std::vector<Node*> stack_{};
  std::optional<Problem> problem_{};
};

}  // namespace

Checked<Node> parse_document(std::string_view text) {
  const char* trace = text.data();
  TreeBuilder builder(text, trace);
  constexpr bool strict = true;
  constexpr bool ignore_comments = true;
  const bool complete =
      Json::sax_parse(TracingIterator(text.data(), &trace), TracingIterator(text.data() + text.size(), &trace),
                      &builder, Json::input_format_t::json, strict, ignore_comments);
  if (complete) return builder.take();
  return tl::unexpected(builder.problem().value_or(Problem{1, "not a JSON document"}));
}

std::string_view kind_of(const Node& node) {
  constexpr std::array<std::string_view, std::variant_size_v<decltype(node.content)>> kinds{
      "null", "true or false", "a whole number", "a whole number", "a fraction", "a text", "a list", "an object"};
  return kinds[node.content.index()];
}

}  // namespace mljobd::config
