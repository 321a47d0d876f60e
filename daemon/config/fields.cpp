#include "config/fields.hpp"

#include "core/format.hpp"
#include "core/text.hpp"

namespace mljobd::config {
namespace {

constexpr std::size_t longest_class_name = 32;

template <class T>
Checked<const T*> content_of(const Node& node, std::string_view expected) {
  if (const auto* content = std::get_if<T>(&node.content)) return content;
  return problem(node.line, std::string(expected) + " was expected, this is " + std::string(kind_of(node)));
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool is_class_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_class_name && is_lower(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

Checked<const Object*> object_of(const Node& node) { return content_of<Object>(node, "an object"); }
Checked<const Array*> array_of(const Node& node) { return content_of<Array>(node, "a list"); }
Checked<std::string> text_of(const Node& node) {
  return content_of<std::string>(node, "a text").map([](const std::string* text) { return *text; });
}
Checked<bool> truth_of(const Node& node) {
  return content_of<bool>(node, "true or false").map([](const bool* value) { return *value; });
}

Checked<std::string> class_name_of(const Node& node) {
  auto text = text_of(node);
  if (text && !is_class_name(*text)) {
    return problem(node.line, core::quoted(*text) +
                                  " is not a name for a class: a lower-case letter, then at most 31 lower-case "
                                  "letters, digits and underscores");
  }
  return text;
}

Checked<std::int64_t> number_of(const Node& node, Range<std::int64_t> range) {
  std::optional<std::int64_t> number;
  if (const auto* negative = std::get_if<std::int64_t>(&node.content)) {
    number = *negative;
  } else if (const auto* positive = std::get_if<std::uint64_t>(&node.content)) {
    // Anything above stands for "too large".
    number = static_cast<std::int64_t>(
        std::min<std::uint64_t>(*positive, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
  } else {
    return problem(node.line, "a whole number was expected, this is " + std::string(kind_of(node)));
  }
  if (*number < range.lowest || *number > range.highest) {
    return problem(node.line, std::to_string(*number) + " is out of range: " + std::to_string(range.lowest) + " to " +
                                  std::to_string(range.highest) + " are allowed");
  }
  return *number;
}

Checked<core::Bytes> size_of(const Node& node, Range<core::Bytes> range) {
  const auto text = content_of<std::string>(node, "a size in quotes, as in \"512M\",");
  if (!text) return tl::unexpected(text.error());
  const auto size = core::parse_bytes(**text, std::nullopt);
  if (!size) return problem(node.line, size.error().message);
  if (*size < range.lowest || *size > range.highest) {
    return problem(node.line, core::quoted(**text) + " is out of range: " + core::format_bytes(range.lowest) + " to " +
                                  core::format_bytes(range.highest) + " are allowed");
  }
  return *size;
}

Checked<core::Microseconds> duration_of(const Node& node, Range<core::Microseconds> range) {
  const auto text = content_of<std::string>(node, "a duration in quotes, as in \"30s\",");
  if (!text) return tl::unexpected(text.error());
  const auto duration = core::parse_duration(**text);
  if (!duration) return problem(node.line, duration.error().message);
  if (*duration < range.lowest || *duration > range.highest) {
    return problem(node.line, core::quoted(**text) + " is out of range: " + core::format_duration(range.lowest) +
                                  " to " + core::format_duration(range.highest) + " are allowed");
  }
  return *duration;
}

tl::unexpected<Problem> unknown_key(const Member& member, const std::vector<std::string_view>& known) {
  std::string reason = "unknown key " + core::quoted(member.key);
  if (const auto nearest = core::nearest_word(member.key, known); !nearest.empty()) {
    return problem(member.line, reason + ": did you mean '" + std::string(nearest) + "'?");
  }
  reason += "; known are";
  for (const auto key : known) reason += (key == known.front() ? " " : ", ") + std::string(key);
  return problem(member.line, std::move(reason));
}

}  // namespace mljobd::config
