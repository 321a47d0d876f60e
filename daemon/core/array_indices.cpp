#include "core/array_indices.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "core/text.hpp"

namespace mljobd::core {
namespace {

tl::unexpected<Error> refuse(std::string_view text, std::string_view reason) {
  return failure(ErrorCode::invalid_spec, quoted(text).append(" is not a list of array indices: ").append(reason));
}

struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t step = 1;
};

std::optional<Range> parse_range(std::string_view text) {
  Range range;
  const auto dash = text.find('-');
  const auto colon = text.find(':');
  const auto first = to_number<std::uint32_t>(text.substr(0, dash));
  if (!first) return std::nullopt;
  range.first = range.last = *first;
  if (dash == std::string_view::npos) return range;  // to_number has refused a step without a range
  const auto last =
      to_number<std::uint32_t>(text.substr(dash + 1, colon == std::string_view::npos ? colon : colon - dash - 1));
  if (!last) return std::nullopt;
  range.last = *last;
  if (colon == std::string_view::npos) return range;
  const auto step = to_number<std::uint32_t>(text.substr(colon + 1));
  if (!step || *step == 0) return std::nullopt;
  range.step = *step;
  return range;
}

Expected<void> add_range(std::string_view whole, const Range& range, std::vector<std::uint32_t>& indices) {
  if (range.last < range.first) return refuse(whole, "a range runs from the smaller number to the larger");
  if (range.last > maximum_array_index) {
    return refuse(whole, "the largest index is " + std::to_string(maximum_array_index));
  }
  const std::size_t count = (range.last - range.first) / range.step + 1;
  if (indices.size() + count > maximum_array_size) {
    return refuse(whole, "it has more than " + std::to_string(maximum_array_size) + " elements");
  }
  for (std::size_t i = 0; i < count; ++i) {
    indices.push_back(range.first + static_cast<std::uint32_t>(i) * range.step);
  }
  return {};
}

}  // namespace

Expected<ArrayIndices> parse_array_indices(std::string_view text) {
  constexpr std::string_view usage = "write it as in 0-15, 1,3,5, 0-30:2 or 0-15%4";
  ArrayIndices array;
  auto rest = text;
  if (const auto percent = rest.find('%'); percent != std::string_view::npos) {
    const auto most = to_number<std::uint32_t>(rest.substr(percent + 1));
    if (!most || *most == 0) return refuse(text, usage);
    array.max_running = *most;
    rest = rest.substr(0, percent);
  }
  for (const auto part : split(rest, ',')) {
    const auto range = parse_range(part);
    if (!range) return refuse(text, usage);
    if (auto added = add_range(text, *range, array.indices); !added) return tl::unexpected(std::move(added).error());
  }
  std::sort(array.indices.begin(), array.indices.end());
  array.indices.erase(std::unique(array.indices.begin(), array.indices.end()), array.indices.end());
  return array;
}

}  // namespace mljobd::core
