// From a node to a value in its range, or the reason why not.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "core/types.hpp"

namespace mljobd::config {

[[nodiscard]] Checked<const Object*> object_of(const Node& node);
[[nodiscard]] Checked<const Array*> array_of(const Node& node);
[[nodiscard]] Checked<std::string> text_of(const Node& node);
[[nodiscard]] Checked<bool> truth_of(const Node& node);
[[nodiscard]] Checked<std::string> class_name_of(const Node& node);  // [a-z][a-z0-9_]{0,31}

template <class T>
struct Range {
  T lowest;
  T highest;
};

[[nodiscard]] Checked<std::int64_t> number_of(const Node& node, Range<std::int64_t> range);
[[nodiscard]] Checked<core::Bytes> size_of(const Node& node, Range<core::Bytes> range);                    // "12G"
[[nodiscard]] Checked<core::Microseconds> duration_of(const Node& node, Range<core::Microseconds> range);  // "30s"

template <class To, class From>
[[nodiscard]] Checked<void> store_in(To& target, Checked<From> value) {
  if (!value) return tl::unexpected(std::move(value).error());
  target = static_cast<To>(*std::move(value));
  return {};
}

// For a Field that is a duration and no more: which member, within what.
template <auto time, const auto& range, class Target>
[[nodiscard]] Checked<void> set_time(const Node& value, Target& target) {
  return store_in(target.*time, duration_of(value, range));
}

// One key that an object may have, and what it changes in the target.
template <class Target>
struct Field {
  std::string_view key;
  Checked<void> (*apply)(const Node& value, Target& target);
};

[[nodiscard]] tl::unexpected<Problem> unknown_key(const Member& member, const std::vector<std::string_view>& known);

// Reasons start with the key, "quotas: queued_jobs: …" where objects are nested.
template <class Target, std::size_t count>
[[nodiscard]] Checked<void> apply_fields(const Node& node, const Field<Target> (&fields)[count], Target& target) {
  const auto object = object_of(node);
  if (!object) return tl::unexpected(object.error());
  for (const Member& member : **object) {
    const auto* const field =
        std::find_if(std::begin(fields), std::end(fields), [&](const auto& known) { return known.key == member.key; });
    if (field == std::end(fields)) {
      std::vector<std::string_view> keys;
      for (const auto& known : fields) keys.push_back(known.key);
      return unknown_key(member, keys);
    }
    if (auto applied = field->apply(member.value, target); !applied) {
      return problem(applied.error().line, member.key + ": " + applied.error().reason);
    }
  }
  return {};
}

}  // namespace mljobd::config
